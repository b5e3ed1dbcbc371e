package dev.torchane.weights;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The GGUF architectures that become Hugging Face models. */
enum GgufArchitecture {
    LLAMA("llama", "llama", "LlamaForCausalLM"),
    QWEN2("qwen2", "qwen2", "Qwen2ForCausalLM"),
    QWEN3("qwen3", "qwen3", "Qwen3ForCausalLM"),
    QWEN3MOE("qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM"),
    GEMMA("gemma", "gemma", "GemmaForCausalLM"),
    GEMMA2("gemma2", "gemma2", "Gemma2ForCausalLM"),
    GEMMA3("gemma3", "gemma3_text", "Gemma3ForCausalLM"),
    PHI3("phi3", "phi3", "Phi3ForCausalLM"),
    GRANITE("granite", "granite", "GraniteForCausalLM"),
    OLMO2("olmo2", "olmo2", "Olmo2ForCausalLM"),
    SMOLLM3("smollm3", "smollm3", "SmolLM3ForCausalLM");

    private final String id;
    private final String modelType;
    private final String className;

    GgufArchitecture(String id, String modelType, String className) {
        this.id = id;
        this.modelType = modelType;
        this.className = className;
    }

    static GgufArchitecture of(GgufMetadata metadata) {
        String key = "general.architecture";
        String id = metadata.string(key)
                .orElseThrow(() -> new CheckpointFault.BadConfig(metadata.file(), key, "is missing").exception());
        for (GgufArchitecture architecture : values()) {
            if (architecture.id.equals(id)) {
                return architecture;
            }
        }
        String known = Arrays.stream(values()).map(a -> a.id).collect(Collectors.joining(", "));
        throw new CheckpointFault.BadConfig(
                        metadata.file(),
                        key,
                        "is " + id + "; of GGUF files these are read: " + known
                                + "; for others use the Hugging Face directory")
                .exception();
    }

    /** Prefix of its metadata keys. */
    String id() {
        return id;
    }

    /** {@code model_type} of the Hugging Face configuration. */
    String modelType() {
        return modelType;
    }

    /** Class in transformers. */
    String className() {
        return className;
    }

    /** Whether query and key rows are stored in pairs. */
    boolean pairsRows() {
        return switch (this) {
            case LLAMA, GRANITE, SMOLLM3 -> true;
            case QWEN2, QWEN3, QWEN3MOE, GEMMA, GEMMA2, GEMMA3, PHI3, OLMO2 -> false;
        };
    }

    /** Whether it is one of Gemma's: GELU, norms stored plus one. */
    boolean isGemma() {
        return this == GEMMA || this == GEMMA2 || this == GEMMA3;
    }

    /** What to add to a stored norm weight to get the model's: Gemma's files hold weight + 1. */
    float normShift() {
        return isGemma() ? -1f : 0f;
    }
}
