package dev.torchane.host;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Random checkpoints of a few thousand weights, one shape for each architecture. */
enum TinyModel {
    LLAMA("llama", "LlamaForCausalLM", 8, 2, false),
    /** Biases on query, key and value. */
    QWEN2("qwen2", "Qwen2ForCausalLM", 8, 2, true),
    /** Norms on query and key, heads wider than hidden / heads. */
    QWEN3("qwen3", "Qwen3ForCausalLM", 16, 2, true),
    /** Sliding and full layers in turn, two RoPE bases, four norms a layer. */
    GEMMA3("gemma3_text", "Gemma3ForCausalLM", 8, 4, true);

    static final int VOCAB = 128;
    private static final int HIDDEN = 32;
    private static final int INTERMEDIATE = 48;
    private static final int HEADS = 4;
    private static final int KV_HEADS = 2;

    private final String type;
    private final String architecture;
    private final int headDim;
    private final int layers;
    private final boolean tied;

    TinyModel(String type, String architecture, int headDim, int layers, boolean tied) {
        this.type = type;
        this.architecture = architecture;
        this.headDim = headDim;
        this.layers = layers;
        this.tied = tied;
    }

    /** Twenty ids, spread over the vocabulary. */
    static int[] prompt() {
        return IntStream.range(0, 20).map(i -> (i * 37 + 11) % VOCAB).toArray();
    }

    /** Writes config.json and model.safetensors into a directory, and answers it. */
    Path write(Path directory, long seed) {
        try {
            Files.createDirectories(directory);
            Files.writeString(directory.resolve("config.json"), config().toPrettyString());
            writeWeights(directory.resolve("model.safetensors"), new Random(seed));
            return directory;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private ObjectNode config() {
        ObjectNode config = new ObjectMapper().createObjectNode();
        config.putArray("architectures").add(architecture);
        config.put("model_type", type)
                .put("hidden_size", HIDDEN)
                .put("intermediate_size", INTERMEDIATE)
                .put("num_hidden_layers", layers)
                .put("num_attention_heads", HEADS)
                .put("num_key_value_heads", KV_HEADS)
                .put("head_dim", headDim)
                .put("vocab_size", VOCAB)
                .put("max_position_embeddings", 256)
                .put("rms_norm_eps", 1e-5)
                .put("bos_token_id", 1)
                .put("eos_token_id", 2)
                .put("rope_theta", this == LLAMA || this == QWEN2 ? 1e4 : 1e6)
                .put("tie_word_embeddings", tied);
        if (this == GEMMA3) {
            config.put("sliding_window", 16)
                    .put("query_pre_attn_scalar", headDim)
                    .put("rope_local_base_freq", 1e4)
                    .put("hidden_activation", "gelu_pytorch_tanh");
            ArrayNode types = config.putArray("layer_types");
            for (int i = 0; i < layers; i++) {
                types.add(i % 2 == 0 ? "sliding_attention" : "full_attention");
            }
        }
        return config;
    }

    private Map<String, List<Integer>> shapes() {
        Map<String, List<Integer>> shapes = new LinkedHashMap<>();
        shapes.put("model.embed_tokens.weight", List.of(VOCAB, HIDDEN));
        for (int i = 0; i < layers; i++) {
            String layer = "model.layers." + i + ".";
            Map<String, Integer> widths = new LinkedHashMap<>();
            widths.put("q", HEADS * headDim);
            widths.put("k", KV_HEADS * headDim);
            widths.put("v", KV_HEADS * headDim);
            widths.forEach((name, width) -> {
                shapes.put(layer + "self_attn." + name + "_proj.weight", List.of(width, HIDDEN));
                if (this == QWEN2) {
                    shapes.put(layer + "self_attn." + name + "_proj.bias", List.of(width));
                }
            });
            shapes.put(layer + "self_attn.o_proj.weight", List.of(HIDDEN, HEADS * headDim));
            if (this == QWEN3 || this == GEMMA3) {
                shapes.put(layer + "self_attn.q_norm.weight", List.of(headDim));
                shapes.put(layer + "self_attn.k_norm.weight", List.of(headDim));
            }
            shapes.put(layer + "mlp.gate_proj.weight", List.of(INTERMEDIATE, HIDDEN));
            shapes.put(layer + "mlp.up_proj.weight", List.of(INTERMEDIATE, HIDDEN));
            shapes.put(layer + "mlp.down_proj.weight", List.of(HIDDEN, INTERMEDIATE));
            shapes.put(layer + "input_layernorm.weight", List.of(HIDDEN));
            shapes.put(layer + "post_attention_layernorm.weight", List.of(HIDDEN));
            if (this == GEMMA3) {
                shapes.put(layer + "pre_feedforward_layernorm.weight", List.of(HIDDEN));
                shapes.put(layer + "post_feedforward_layernorm.weight", List.of(HIDDEN));
            }
        }
        shapes.put("model.norm.weight", List.of(HIDDEN));
        if (!tied) {
            shapes.put("lm_head.weight", List.of(VOCAB, HIDDEN));
        }
        return shapes;
    }

    private void writeWeights(Path file, Random random) throws IOException {
        ObjectNode header = new ObjectMapper().createObjectNode();
        long end = 0;
        for (var weight : shapes().entrySet()) {
            ObjectNode entry = header.putObject(weight.getKey()).put("dtype", "F32");
            weight.getValue().forEach(entry.putArray("shape")::add);
            long begin = end;
            end += 4L * elements(weight.getValue());
            entry.putArray("data_offsets").add(begin).add(end);
        }
        String text = header.toString();
        byte[] padded = (text + " ".repeat((8 - text.length() % 8) % 8)).getBytes(StandardCharsets.UTF_8);
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(little(8).putLong(padded.length).array());
            out.write(padded);
            for (var weight : shapes().entrySet()) {
                out.write(values(weight.getKey(), elements(weight.getValue()), random));
            }
        }
    }

    private byte[] values(String name, int count, Random random) {
        boolean norm = name.contains("norm");
        float centre = norm && this != GEMMA3 ? 1f : 0f;
        float spread = norm ? 0.1f : name.contains("embed") && this != GEMMA3 ? 1f : 0.25f;
        ByteBuffer bytes = little(4 * count);
        for (int i = 0; i < count; i++) {
            bytes.putFloat(centre + spread * (float) random.nextGaussian());
        }
        return bytes.array();
    }

    private static int elements(List<Integer> shape) {
        return shape.stream().reduce(1, Math::multiplyExact);
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
