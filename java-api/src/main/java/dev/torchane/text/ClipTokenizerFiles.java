package dev.torchane.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** CLIP's tokenizer as pipelines ship it, vocab.json and merges.txt, as the tokenizer.json that transformers makes of them. */
final class ClipTokenizerFiles {

    static final String START = "<|startoftext|>";
    static final String END = "<|endoftext|>";

    private static final String VOCABULARY = "vocab.json";
    private static final String MERGES = "merges.txt";
    private static final String SPLIT =
            "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path directory;
    private final JsonNode vocabulary;

    private ClipTokenizerFiles(Path directory) {
        this.directory = directory;
        this.vocabulary = TokenizerConfig.json(directory.resolve(VOCABULARY));
    }

    /**
     * The tokenizer.json of a directory that has none; empty where the files are not there, or belong to another tokenizer.
     *
     * @throws TorchAneException when they are damaged
     */
    static Optional<String> describe(Path directory) {
        boolean present = Files.isRegularFile(directory.resolve(VOCABULARY))
                && Files.isRegularFile(directory.resolve(MERGES))
                && TokenizerConfig.json(directory.resolve("tokenizer_config.json"))
                        .path("tokenizer_class")
                        .asText("CLIPTokenizer")
                        .matches("CLIPTokenizer(Fast)?");
        return present ? Optional.of(new ClipTokenizerFiles(directory).describe()) : Optional.empty();
    }

    /** A special token by its role, such as {@code pad_token}, where a file of the directory names it. */
    static Optional<String> special(Path directory, String role) {
        for (String file : List.of("tokenizer_config.json", "special_tokens_map.json")) {
            String text = TokenizerConfig.tokenText(
                    TokenizerConfig.json(directory.resolve(file)).path(role));
            if (!text.isEmpty()) {
                return Optional.of(text);
            }
        }
        return Optional.empty();
    }

    private String describe() {
        String start = special(directory, "bos_token").orElse(START);
        String end = special(directory, "eos_token").orElse(END);
        String unknown = special(directory, "unk_token").orElse(END);
        String padding = special(directory, "pad_token").orElse(END);
        ObjectNode root = MAPPER.createObjectNode().put("version", "1.0");
        Map<Integer, String> added = new TreeMap<>();
        for (String token : List.of(start, end, unknown, padding)) {
            added.put(id(token), token);
        }
        ArrayNode tokens = root.putArray("added_tokens");
        added.forEach((id, token) -> tokens.addObject()
                .put("id", id)
                .put("content", token)
                .put("single_word", false)
                .put("lstrip", false)
                .put("rstrip", false)
                .put("normalized", !token.equals(padding) || token.equals(end))
                .put("special", true));
        ArrayNode normalizers =
                root.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
        normalizers.addObject().put("type", "NFC");
        normalizers
                .addObject()
                .put("type", "Replace")
                .put("content", " ")
                .putObject("pattern")
                .put("Regex", "\\s+");
        normalizers.addObject().put("type", "Lowercase");
        ArrayNode splits =
                root.putObject("pre_tokenizer").put("type", "Sequence").putArray("pretokenizers");
        splits.addObject()
                .put("type", "Split")
                .put("behavior", "Removed")
                .put("invert", true)
                .putObject("pattern")
                .put("Regex", SPLIT);
        splits.add(GgufPreTokenizer.byteLevel(true));
        ObjectNode around = root.putObject("post_processor").put("type", "RobertaProcessing");
        around.putArray("sep").add(end).add(id(end));
        around.putArray("cls").add(start).add(id(start));
        around.put("trim_offsets", false).put("add_prefix_space", false);
        root.set("decoder", GgufPreTokenizer.byteLevel(true));
        ObjectNode model = root.putObject("model").put("type", "BPE").put("unk_token", unknown);
        model.put("continuing_subword_prefix", "").put("end_of_word_suffix", "</w>");
        model.put("fuse_unk", false).put("byte_fallback", false).put("ignore_merges", false);
        model.set("vocab", vocabulary);
        merges(model.putArray("merges"));
        return root.toString();
    }

    private int id(String token) {
        JsonNode id = vocabulary.path(token);
        if (!id.isIntegralNumber()) {
            throw new TorchAneException(directory.resolve(VOCABULARY) + " has no token " + token);
        }
        return id.intValue();
    }

    private void merges(ArrayNode merges) {
        Path file = directory.resolve(MERGES);
        int number = 0;
        for (String line : TokenizerConfig.text(file).split("\r?\n")) {
            number++;
            if (line.isBlank() || (number == 1 && line.startsWith("#version"))) {
                continue;
            }
            int space = line.indexOf(' ', 1);
            if (space < 0) {
                throw new TorchAneException(
                        file + ", line " + number + " is '" + line + "'; expected two tokens with a space between");
            }
            merges.addArray().add(line.substring(0, space)).add(line.substring(space + 1));
        }
    }
}
