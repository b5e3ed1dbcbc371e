package dev.torchane.text;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.weights.GgufMetadata;
import java.util.Optional;

/** How a byte-level GGUF tokenizer splits text before merging, in the words of a tokenizer.json. */
enum GgufPreTokenizer {
    /** GPT-2's own pattern. */
    GPT2("", false, false),
    /** Single digits, then GPT-2's pattern. */
    DIGITS("", false, false),
    LLAMA3(
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
                    + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
            true,
            true),
    QWEN2(
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
                    + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
            false,
            false),
    TEKKEN(
            "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
                    + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
                    + "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
            true,
            true);

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final String pattern;
    private final boolean ignoresMerges;
    private final boolean addsBos;

    GgufPreTokenizer(String pattern, boolean ignoresMerges, boolean addsBos) {
        this.pattern = pattern;
        this.ignoresMerges = ignoresMerges;
        this.addsBos = addsBos;
    }

    /** The one that {@code tokenizer.ggml.pre} names; for files older than that key, the one of the architecture. */
    static Optional<GgufPreTokenizer> of(GgufMetadata metadata) {
        String name = metadata.string("tokenizer.ggml.pre")
                .orElseGet(() -> metadata.string("general.architecture").orElse(""));
        return Optional.ofNullable(
                switch (name) {
                    case "gpt-2", "gpt2" -> GPT2;
                    case "smollm", "starcoder", "refact" -> DIGITS;
                    case "llama-bpe", "llama3", "llama-v3", "falcon3" -> LLAMA3;
                    case "qwen2", "qwen3", "deepseek-r1-qwen" -> QWEN2;
                    case "tekken" -> TEKKEN;
                    default -> null;
                });
    }

    /** Whether a word that is a token is taken whole, whatever the merges say. */
    boolean ignoresMerges() {
        return ignoresMerges;
    }

    /** Whether BOS stands before a text when the file does not say. */
    boolean addsBosByDefault() {
        return addsBos;
    }

    /** Adds normalizer and pre_tokenizer. */
    void describe(ObjectNode root) {
        if (this == QWEN2) {
            root.putObject("normalizer").put("type", "NFC");
        }
        switch (this) {
            case GPT2 -> root.set("pre_tokenizer", byteLevel(true));
            case DIGITS -> {
                ArrayNode steps = sequence(root);
                steps.addObject().put("type", "Digits").put("individual_digits", true);
                steps.add(byteLevel(true));
            }
            case LLAMA3, QWEN2, TEKKEN -> {
                ArrayNode steps = sequence(root);
                ObjectNode split = steps.addObject().put("type", "Split");
                split.putObject("pattern").put("Regex", pattern);
                split.put("behavior", "Isolated").put("invert", false);
                steps.add(byteLevel(false));
            }
        }
    }

    static ObjectNode byteLevel(boolean useRegex) {
        return MAPPER.createObjectNode()
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", useRegex);
    }

    private static ArrayNode sequence(ObjectNode root) {
        return root.putObject("pre_tokenizer").put("type", "Sequence").putArray("pretokenizers");
    }
}
