package dev.torchane.weights;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Makes a Hugging Face configuration from GGUF metadata. What the metadata says wins over what could be derived. */
final class GgufConfig {

    private static final long GEMMA3_27B_LAYERS = 62;
    private static final long GEMMA3_PATTERN = 6;
    private static final long MAX_LAYERS = 10_000;

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

    ObjectNode json(Map<String, WeightTensor> tensors, Optional<GgufFile.Tensor> ropeFactors) {
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
        config.put("hidden_act", architecture == GgufArchitecture.GEMMA3 ? "gelu_pytorch_tanh" : "silu");
        config.put("max_position_embeddings", required("context_length"));
        config.put(
                "rms_norm_eps",
                shortest(metadata.real(key("attention.layer_norm_rms_epsilon"))
                        .orElseThrow(() -> bad("attention.layer_norm_rms_epsilon", "is missing"))));
        new GgufRope(metadata, architecture, headDim()).describe(config, ropeFactors);
        config.put("tie_word_embeddings", !tensors.containsKey("lm_head.weight"));
        config.put("attention_bias", tensors.containsKey("model.layers.0.self_attn.q_proj.bias"));
        config.put("mlp_bias", tensors.containsKey("model.layers.0.mlp.up_proj.bias"));
        config.put("attention_dropout", 0.0);
        describeWindow(config);
        describeTokens(config);
        config.put("torch_dtype", "float32");
        return config;
    }

    private void refuseUnsupported() {
        if (optional("expert_count").orElse(0) > 0) {
            throw bad("expert_count", "is not 0: mixtures of experts are not read from GGUF files");
        }
        OptionalLong value = optional("attention.value_length");
        if (value.isPresent() && value.getAsLong() != headDim()) {
            throw bad(
                    "attention.value_length",
                    "is " + value.getAsLong() + ", but attention.key_length is " + headDim()
                            + "; heads of unequal key and value lengths are not supported");
        }
        long rotary = optional("rope.dimension_count").orElse(headDim());
        if (rotary != headDim()) {
            throw bad(
                    "rope.dimension_count",
                    "is " + rotary + ", but a head has " + headDim()
                            + " values; partial rotation is not read from GGUF files");
        }
        if (metadata.real(key("attn_logit_softcapping")).orElse(0) != 0
                || metadata.real(key("final_logit_softcapping")).orElse(0) != 0) {
            throw bad("final_logit_softcapping", "is set; capped logits are not read from GGUF files");
        }
    }

    private long layers(Map<String, WeightTensor> tensors) {
        long layers = required("block_count");
        if (layers > MAX_LAYERS) {
            throw bad("block_count", "is " + layers + ", which no model has");
        }
        for (long i = 0; i < layers; i++) {
            String name = "model.layers." + i + ".input_layernorm.weight";
            if (!tensors.isEmpty() && !tensors.containsKey(name)) {
                throw new CheckpointFault.MissingTensor(
                                gguf.file(), "blk." + i + ".attn_norm.weight", key("block_count") + " is " + layers)
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
            case GEMMA3 -> {
                config.put("sliding_window", window.orElse(1024));
                long layers = required("block_count");
                List<Boolean> sliding = slidingLayers(layers);
                ArrayNode types = config.putArray("layer_types");
                sliding.forEach(slides -> types.add(slides ? "sliding_attention" : "full_attention"));
                long scalar = layers == GEMMA3_27B_LAYERS
                        ? required("embedding_length") / required("attention.head_count")
                        : headDim();
                config.put("query_pre_attn_scalar", scalar);
            }
            case LLAMA, QWEN2, QWEN3 -> {
                if (window.orElse(0) > 0) {
                    throw bad(
                            "attention.sliding_window",
                            "is " + window.getAsLong()
                                    + "; sliding windows of this architecture are not read from GGUF files");
                }
            }
        }
    }

    /** Which layers see a window only: as the metadata says, else five of six. */
    private List<Boolean> slidingLayers(long layers) {
        String name = "attention.sliding_window_pattern";
        if (metadata.isArray(key(name))) {
            List<Boolean> pattern = metadata.bools(key(name));
            if (pattern.size() != layers) {
                throw bad(name, "has " + pattern.size() + " entries for " + layers + " layers");
            }
            return pattern;
        }
        long every = optional(name).orElse(GEMMA3_PATTERN);
        if (every < 1 || layers > MAX_LAYERS) {
            throw bad(name, "is " + every + " for " + layers + " layers");
        }
        return LongStream.rangeClosed(1, layers).mapToObj(i -> i % every != 0).toList();
    }

    private void describeTokens(ObjectNode config) {
        token("bos_token_id").ifPresent(id -> config.put("bos_token_id", id));
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
