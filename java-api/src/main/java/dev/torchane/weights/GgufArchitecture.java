package dev.torchane.weights;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The GGUF architectures that become Hugging Face models. */
enum GgufArchitecture {
    LLAMA("llama", "llama", "LlamaForCausalLM"),
    QWEN2("qwen2", "qwen2", "Qwen2ForCausalLM"),
    QWEN3("qwen3", "qwen3", "Qwen3ForCausalLM"),
    GEMMA3("gemma3", "gemma3_text", "Gemma3ForCausalLM");

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
        return this == LLAMA;
    }

    /** What to add to a stored norm weight to get the model's: Gemma's files hold weight + 1. */
    float normShift() {
        return this == GEMMA3 ? -1f : 0f;
    }
}
