package dev.torchane.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A random two-layer language model that can be written as a Hugging Face directory or as a GGUF file, with
 * {@link TinyTokenizer} as its tokenizer: 4 query heads over 2 key-value heads of 16 values, hidden size 80 (so that a head is not hidden size by heads).
 */
public final class TinyModel {

    /** Architectures of tiny models. */
    public enum Architecture {
        LLAMA("llama", "LlamaForCausalLM"),
        QWEN2("qwen2", "Qwen2ForCausalLM"),
        QWEN3("qwen3", "Qwen3ForCausalLM"),
        GEMMA("gemma", "GemmaForCausalLM"),
        GEMMA2("gemma2", "Gemma2ForCausalLM"),
        GEMMA3("gemma3_text", "Gemma3ForCausalLM"),
        PHI3("phi3", "Phi3ForCausalLM"),
        GRANITE("granite", "GraniteForCausalLM"),
        OLMO2("olmo2", "Olmo2ForCausalLM"),
        SMOLLM3("smollm3", "SmolLM3ForCausalLM");

        private final String modelType;
        private final String className;

        Architecture(String modelType, String className) {
            this.modelType = modelType;
            this.className = className;
        }

        boolean isGemma() {
            return this == GEMMA || this == GEMMA2 || this == GEMMA3;
        }

        /** Whether llama.cpp's converter stores query and key rows in pairs. */
        public boolean pairsRows() {
            return this == LLAMA || this == GRANITE || this == SMOLLM3;
        }
    }

    public static final int LAYERS = 2;
    public static final int HIDDEN = 80;
    public static final int INTERMEDIATE = 96;
    public static final int HEADS = 4;
    public static final int KV_HEADS = 2;
    public static final int HEAD_DIM = 16;
    public static final int MAX_POSITION = 512;

    /** A tensor's fp32 values. */
    public record Values(long[] shape, float[] values) {}

    private final Architecture architecture;
    private final boolean tied;
    private final Map<String, Values> tensors = new LinkedHashMap<>();
    private final SplittableRandom random;

    private TinyModel(Architecture architecture, boolean tied, long seed) {
        this.architecture = architecture;
        this.tied = tied;
        this.random = new SplittableRandom(seed);
        matrix("model.embed_tokens.weight", TinyTokenizer.SIZE, HIDDEN);
        for (int i = 0; i < LAYERS; i++) {
            layer("model.layers." + i + ".");
        }
        norm("model.norm.weight", HIDDEN);
        if (!tied) {
            matrix("lm_head.weight", TinyTokenizer.SIZE, HIDDEN);
        }
    }

    /** A model whose values depend on the seed only; its head is the embedding. */
    public static TinyModel of(Architecture architecture, long seed) {
        return new TinyModel(architecture, true, seed);
    }

    /** A model with a head of its own. */
    public static TinyModel untied(Architecture architecture, long seed) {
        return new TinyModel(architecture, false, seed);
    }

    /** Tensors by Hugging Face name; may be changed before writing. */
    public Map<String, Values> tensors() {
        return tensors;
    }

    /** The configuration as transformers would save it. */
    public ObjectNode config() {
        ObjectNode config = new ObjectMapper().createObjectNode();
        config.putArray("architectures").add(architecture.className);
        config.put("model_type", architecture.modelType);
        config.put("vocab_size", TinyTokenizer.SIZE);
        config.put("hidden_size", HIDDEN);
        config.put("intermediate_size", INTERMEDIATE);
        config.put("num_hidden_layers", LAYERS);
        config.put("num_attention_heads", HEADS);
        config.put("num_key_value_heads", KV_HEADS);
        config.put("head_dim", HEAD_DIM);
        config.put("max_position_embeddings", MAX_POSITION);
        config.put("rms_norm_eps", 1e-5);
        config.put("rope_theta", 10000.0);
        config.put("tie_word_embeddings", tied);
        config.put("bos_token_id", TinyTokenizer.START);
        config.put("eos_token_id", TinyTokenizer.END);
        config.put("torch_dtype", "float32");
        config.put("hidden_act", architecture.isGemma() ? "gelu_pytorch_tanh" : "silu");
        describeOwn(config);
        return config;
    }

    /** What only this architecture's configuration has. */
    private void describeOwn(ObjectNode config) {
        switch (architecture) {
            case GEMMA2, GEMMA3 -> {
                config.put("hidden_activation", "gelu_pytorch_tanh");
                config.put("query_pre_attn_scalar", HEAD_DIM);
                config.put("sliding_window", 32);
                config.putArray("layer_types").add("sliding_attention").add("full_attention");
                if (architecture == Architecture.GEMMA3) {
                    config.put("rope_local_base_freq", 10000.0);
                } else {
                    config.put("attn_logit_softcapping", 20.0);
                    config.put("final_logit_softcapping", 5.0);
                }
            }
            case PHI3 -> {
                config.putNull("pad_token_id");
                config.putNull("sliding_window");
                config.put("partial_rotary_factor", 0.5);
            }
            case GRANITE -> {
                config.put("attention_multiplier", 0.125);
                config.put("embedding_multiplier", 12.0);
                config.put("residual_multiplier", 0.25);
                config.put("logits_scaling", 8.0);
            }
            case SMOLLM3 -> {
                config.putNull("pad_token_id");
                config.put("no_rope_layer_interval", 4);
            }
            case LLAMA, QWEN2, QWEN3, GEMMA, OLMO2 -> {}
        }
    }

    /** Writes config.json, model.safetensors and the tokenizer's files. */
    public Path writeHuggingFace(Path directory) {
        SafetensorsWriter writer = new SafetensorsWriter().metadata("format", "pt");
        tensors.forEach((name, tensor) -> writer.floats(name, tensor.shape(), tensor.values()));
        try {
            Files.createDirectories(directory);
            writer.write(directory.resolve("model.safetensors"));
            Files.writeString(directory.resolve("config.json"), config().toPrettyString());
            TinyTokenizer.write(directory);
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a GGUF file with F32 tensors, rows paired where llama.cpp's converter pairs them. */
    public Path writeGguf(Path file) {
        return TinyGguf.writer(architecture, tensors, false).write(file);
    }

    /** As {@link #writeGguf}, with matrices in blocks of Q8_0 where their rows are whole blocks. */
    public Path writeGgufOfBlocks(Path file) {
        return TinyGguf.writer(architecture, tensors, true).write(file);
    }

    /** The GGUF file before it is written, to add to it or change it. */
    public GgufWriter gguf() {
        return TinyGguf.writer(architecture, tensors, false);
    }

    private void layer(String prefix) {
        if (architecture != Architecture.OLMO2) {
            norm(prefix + "input_layernorm.weight", HIDDEN);
        }
        boolean fused = architecture == Architecture.PHI3;
        if (fused) {
            matrix(prefix + "self_attn.qkv_proj.weight", (HEADS + 2 * KV_HEADS) * HEAD_DIM, HIDDEN);
        } else {
            matrix(prefix + "self_attn.q_proj.weight", HEADS * HEAD_DIM, HIDDEN);
            matrix(prefix + "self_attn.k_proj.weight", KV_HEADS * HEAD_DIM, HIDDEN);
            matrix(prefix + "self_attn.v_proj.weight", KV_HEADS * HEAD_DIM, HIDDEN);
        }
        matrix(prefix + "self_attn.o_proj.weight", HIDDEN, HEADS * HEAD_DIM);
        switch (architecture) {
            case QWEN2 -> {
                vector(prefix + "self_attn.q_proj.bias", HEADS * HEAD_DIM);
                vector(prefix + "self_attn.k_proj.bias", KV_HEADS * HEAD_DIM);
                vector(prefix + "self_attn.v_proj.bias", KV_HEADS * HEAD_DIM);
            }
            case QWEN3, GEMMA3 -> {
                norm(prefix + "self_attn.q_norm.weight", HEAD_DIM);
                norm(prefix + "self_attn.k_norm.weight", HEAD_DIM);
            }
            case OLMO2 -> {
                norm(prefix + "self_attn.q_norm.weight", HEADS * HEAD_DIM);
                norm(prefix + "self_attn.k_norm.weight", KV_HEADS * HEAD_DIM);
            }
            case LLAMA, GEMMA, GEMMA2, PHI3, GRANITE, SMOLLM3 -> {}
        }
        norm(prefix + "post_attention_layernorm.weight", HIDDEN);
        if (architecture == Architecture.GEMMA2 || architecture == Architecture.GEMMA3) {
            norm(prefix + "pre_feedforward_layernorm.weight", HIDDEN);
        }
        if (Set.of(Architecture.GEMMA2, Architecture.GEMMA3, Architecture.OLMO2).contains(architecture)) {
            norm(prefix + "post_feedforward_layernorm.weight", HIDDEN);
        }
        if (fused) {
            matrix(prefix + "mlp.gate_up_proj.weight", 2 * INTERMEDIATE, HIDDEN);
        } else {
            matrix(prefix + "mlp.gate_proj.weight", INTERMEDIATE, HIDDEN);
            matrix(prefix + "mlp.up_proj.weight", INTERMEDIATE, HIDDEN);
        }
        matrix(prefix + "mlp.down_proj.weight", HIDDEN, INTERMEDIATE);
    }

    private void matrix(String name, int rows, int columns) {
        tensors.put(name, new Values(new long[] {rows, columns}, gaussians(rows * columns, 0, 0.15)));
    }

    private void vector(String name, int length) {
        tensors.put(name, new Values(new long[] {length}, gaussians(length, 0, 0.1)));
    }

    private void norm(String name, int length) {
        double mean = architecture.isGemma() ? 0 : 1;
        tensors.put(name, new Values(new long[] {length}, gaussians(length, mean, 0.1)));
    }

    private float[] gaussians(int count, double mean, double deviation) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (mean + deviation * random.nextGaussian());
        }
        return values;
    }
}
