package dev.torchane.weights;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Makes a Hugging Face configuration from GGUF metadata. What the metadata says wins over what could be derived. */
final class GgufConfig {

    private static final long GEMMA2_27B_LAYERS = 46;
    private static final long GEMMA3_27B_LAYERS = 62;
    private static final long GEMMA2_PATTERN = 2;
    private static final long GEMMA3_PATTERN = 6;
    private static final long SMOLLM3_INTERVAL = 4;

    /** Gemma 2's keys, with the configuration's. */
    private static final Map<String, String> CAPS = Map.of(
            "attn_logit_softcapping", "attn_logit_softcapping",
            "final_logit_softcapping", "final_logit_softcapping");

    /** Granite's keys, with the configuration's. */
    private static final Map<String, String> SCALES = Map.of(
            "attention.scale", "attention_multiplier",
            "embedding_scale", "embedding_multiplier",
            "residual_scale", "residual_multiplier",
            "logit_scale", "logits_scaling");

    private static final long MAX_LAYERS = 10_000;
    private static final long MAX_EXPERTS = 4096;

    private final GgufFile gguf;
    private final GgufMetadata metadata;
    private final GgufArchitecture architecture;

    GgufConfig(GgufFile gguf, GgufArchitecture architecture) {
        this.gguf = gguf;
        this.metadata = gguf.metadata();
        this.architecture = architecture;
    }

    /** Values of one head's query or key. */
    long headDim() {
        OptionalLong key = metadata.integer(key("attention.key_length"));
        if (key.isPresent()) {
            return positive("attention.key_length", key.getAsLong());
        }
        long hidden = required("embedding_length");
        long heads = required("attention.head_count");
        if (hidden % heads != 0) {
            throw bad(
                    "attention.head_count",
                    "is " + heads + ", which does not divide the embedding length " + hidden
                            + ", and there is no attention.key_length");
        }
        return hidden / heads;
    }

    ObjectNode json(Map<String, WeightTensor> tensors, Map<String, GgufFile.Tensor> ropeFactors) {
        refuseUnsupported();
        ObjectNode config = Json.MAPPER.createObjectNode();
        config.putArray("architectures").add(architecture.className());
        config.put("model_type", architecture.modelType());
        config.put("vocab_size", vocabulary(tensors));
        config.put("hidden_size", required("embedding_length"));
        config.put("intermediate_size", required("feed_forward_length"));
        config.put("num_hidden_layers", layers(tensors));
        config.put("num_attention_heads", required("attention.head_count"));
        config.put("num_key_value_heads", optional("attention.head_count_kv").orElse(required("attention.head_count")));
        config.put("head_dim", headDim());
        config.put("hidden_act", architecture.isGemma() ? "gelu_pytorch_tanh" : "silu");
        config.put("max_position_embeddings", required("context_length"));
        config.put(
                "rms_norm_eps",
                shortest(metadata.real(key("attention.layer_norm_rms_epsilon"))
                        .orElseThrow(() -> bad("attention.layer_norm_rms_epsilon", "is missing"))));
        new GgufRope(metadata, architecture, rotaryDim()).describe(config, ropeFactors);
        if (rotaryDim() != headDim()) {
            config.put("partial_rotary_factor", (double) rotaryDim() / headDim());
        }
        config.put("tie_word_embeddings", !tensors.containsKey("lm_head.weight"));
        config.put("attention_bias", tensors.containsKey("model.layers.0.self_attn.q_proj.bias"));
        config.put("mlp_bias", tensors.containsKey("model.layers.0.mlp.up_proj.bias"));
        config.put("attention_dropout", 0.0);
        describeWindow(config);
        describeScales(config);
        describeTokens(config);
        config.put("torch_dtype", "float32");
        return config;
    }

    private void refuseUnsupported() {
        if (architecture != GgufArchitecture.QWEN3MOE
                && optional("expert_count").orElse(0) > 0) {
            throw bad("expert_count", "is not 0: mixtures of this architecture are not read from GGUF files");
        }
        OptionalLong value = optional("attention.value_length");
        if (value.isPresent() && value.getAsLong() != headDim()) {
            throw bad(
                    "attention.value_length",
                    "is " + value.getAsLong() + ", but attention.key_length is " + headDim()
                            + "; heads of unequal key and value lengths are not supported");
        }
        long rotary = rotaryDim();
        if (rotary != headDim() && architecture != GgufArchitecture.PHI3) {
            throw bad(
                    "rope.dimension_count",
                    "is " + rotary + ", but a head has " + headDim()
                            + " values; partial rotation of this architecture is not read from GGUF files");
        }
        CAPS.keySet().forEach(name -> refuseUnless(architecture == GgufArchitecture.GEMMA2, name));
        SCALES.keySet().forEach(name -> refuseUnless(architecture == GgufArchitecture.GRANITE, name));
    }

    private void refuseUnless(boolean known, String name) {
        double value = metadata.real(key(name)).orElse(0);
        if (!known && value != 0) {
            throw bad(name, "is " + shortest(value) + "; it is not read from GGUF files of this architecture");
        }
    }

    /** Values of a head that are rotated. */
    private long rotaryDim() {
        return positive("rope.dimension_count", optional("rope.dimension_count").orElse(headDim()));
    }

    private long layers(Map<String, WeightTensor> tensors) {
        long layers = required("block_count");
        if (layers > MAX_LAYERS) {
            throw bad("block_count", "is " + layers + ", which no model has");
        }
        for (long i = 0; i < layers; i++) {
            String name = "model.layers." + i + ".self_attn.o_proj.weight";
            if (!tensors.isEmpty() && !tensors.containsKey(name)) {
                throw new CheckpointFault.MissingTensor(
                                gguf.file(), "blk." + i + ".attn_output.weight", key("block_count") + " is " + layers)
                        .exception();
            }
        }
        return layers;
    }

    private long vocabulary(Map<String, WeightTensor> tensors) {
        long tokens = metadata.strings("tokenizer.ggml.tokens").size();
        WeightTensor embedding = tensors.get("model.embed_tokens.weight");
        if (embedding == null) {
            return tokens > 0 ? tokens : required("vocab_size");
        }
        long rows = embedding.rows();
        if (tokens > rows) {
            throw new CheckpointFault.BadConfig(
                            gguf.file(),
                            "tokenizer.ggml.tokens",
                            "has " + tokens + " tokens, the embedding " + rows + " rows")
                    .exception();
        }
        return rows;
    }

    private void describeWindow(ObjectNode config) {
        OptionalLong window = optional("attention.sliding_window");
        switch (architecture) {
            case GEMMA2 -> describeGemma(config, window.orElse(4096), GEMMA2_PATTERN, GEMMA2_27B_LAYERS);
            case GEMMA3 -> describeGemma(config, window.orElse(1024), GEMMA3_PATTERN, GEMMA3_27B_LAYERS);
            case PHI3 -> {
                if (window.orElse(0) > 0) {
                    config.put("sliding_window", window.getAsLong());
                } else {
                    config.putNull("sliding_window");
                }
            }
            case LLAMA, QWEN2, QWEN3, QWEN3MOE, GEMMA, GRANITE, OLMO2, SMOLLM3 -> {
                if (window.orElse(0) > 0) {
                    throw bad(
                            "attention.sliding_window",
                            "is " + window.getAsLong()
                                    + "; sliding windows of this architecture are not read from GGUF files");
                }
            }
        }
    }

    /** The largest models of each generation scale queries by the hidden size for each head, all others by the head. */
    private void describeGemma(ObjectNode config, long window, long pattern, long largest) {
        config.put("sliding_window", window);
        long layers = required("block_count");
        List<Boolean> sliding = slidingLayers(layers, pattern);
        ArrayNode types = config.putArray("layer_types");
        sliding.forEach(slides -> types.add(slides ? "sliding_attention" : "full_attention"));
        long scalar = layers == largest ? required("embedding_length") / required("attention.head_count") : headDim();
        config.put("query_pre_attn_scalar", scalar);
    }

    /** Experts of a layer. */
    long experts() {
        long count = required("expert_count");
        if (count < 1 || count > MAX_EXPERTS) {
            throw bad("expert_count", "is " + count + ", expected 1 to " + MAX_EXPERTS);
        }
        return count;
    }

    /** Logit caps of Gemma 2, multipliers of Granite, experts of mixtures, and the layers of SmolLM3 without rotation. */
    private void describeScales(ObjectNode config) {
        switch (architecture) {
            case GEMMA2 ->
                CAPS.forEach(
                        (key, name) -> metadata.real(key(key)).ifPresent(value -> config.put(name, shortest(value))));
            case GRANITE -> {
                config.put("attention_multiplier", 1 / Math.sqrt(headDim()));
                SCALES.forEach((key, name) -> {
                    double value = metadata.real(key(key)).orElse(0);
                    if (value != 0) {
                        config.put(name, shortest(value));
                    }
                });
            }
            case SMOLLM3 -> config.put("no_rope_layer_interval", SMOLLM3_INTERVAL);
            case QWEN3MOE -> {
                config.put("num_experts", experts());
                config.put("num_experts_per_tok", required("expert_used_count"));
                config.put("moe_intermediate_size", required("expert_feed_forward_length"));
                config.put("norm_topk_prob", true); // of every Qwen3, and not in the metadata
            }
            case LLAMA, QWEN2, QWEN3, GEMMA, GEMMA3, PHI3, OLMO2 -> {}
        }
    }

    /** Which layers see a window only: as the metadata says, else all but each one of {@code usual}. */
    private List<Boolean> slidingLayers(long layers, long usual) {
        String name = "attention.sliding_window_pattern";
        if (metadata.isArray(key(name))) {
            List<Boolean> pattern = metadata.bools(key(name));
            if (pattern.size() != layers) {
                throw bad(name, "has " + pattern.size() + " entries for " + layers + " layers");
            }
            return pattern;
        }
        long every = optional(name).orElse(usual);
        if (every < 1 || layers > MAX_LAYERS) {
            throw bad(name, "is " + every + " for " + layers + " layers");
        }
        return LongStream.rangeClosed(1, layers).mapToObj(i -> i % every != 0).toList();
    }

    private void describeTokens(ObjectNode config) {
        token("bos_token_id").ifPresent(id -> config.put("bos_token_id", id));
        // Said even if there is none: some classes' own default lies beyond a small vocabulary.
        config.putNull("pad_token_id");
        token("padding_token_id").ifPresent(id -> config.put("pad_token_id", id));
        TreeSet<Long> ends = new TreeSet<>();
        for (String key : List.of("eos_token_id", "eot_token_id", "eom_token_id")) {
            token(key).ifPresent(ends::add);
        }
        if (ends.size() == 1) {
            config.put("eos_token_id", ends.getFirst());
        } else if (!ends.isEmpty()) {
            ends.forEach(config.putArray("eos_token_id")::add);
        }
    }

    private OptionalLong token(String name) {
        OptionalLong id = metadata.integer("tokenizer.ggml." + name);
        // Converters write -1 or 2^32 - 1 where a model has no such token.
        return id.isPresent() && id.getAsLong() >= 0 && id.getAsLong() < Integer.MAX_VALUE ? id : OptionalLong.empty();
    }

    private long required(String name) {
        return optional(name).orElseThrow(() -> bad(name, "is missing"));
    }

    /** A positive size; some converters write one number per layer, which must then all be equal. */
    private OptionalLong optional(String name) {
        String key = key(name);
        if (metadata.isArray(key)) {
            List<Long> perLayer = metadata.integers(key);
            if (perLayer.isEmpty() || perLayer.stream().distinct().count() != 1) {
                throw bad(name, "differs between layers: " + perLayer + "; such models are not supported");
            }
            return OptionalLong.of(perLayer.getFirst());
        }
        OptionalLong value = metadata.integer(key);
        value.ifPresent(size -> {
            if (size < 0 || size > Integer.MAX_VALUE) {
                throw bad(name, "is " + size + ", which is no size");
            }
        });
        return value;
    }

    private long positive(String name, long value) {
        if (value <= 0 || value > 1 << 20) {
            throw bad(name, "is " + value + ", expected 1 to 2^20");
        }
        return value;
    }

    private String key(String name) {
        return architecture.id() + "." + name;
    }

    private CheckpointException bad(String name, String reason) {
        return new CheckpointFault.BadConfig(gguf.file(), key(name), reason).exception();
    }

    /** The shortest decimal that is this fp32: metadata says 1e-5 in fp32, configurations say 1e-5. */
    static double shortest(double fp32) {
        return Double.parseDouble(Float.toString((float) fp32));
    }
}
