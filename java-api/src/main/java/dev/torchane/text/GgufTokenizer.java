package dev.torchane.text;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.weights.GgufMetadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/** Makes a tokenizer.json, a tokenizer_config.json and a generation_config.json from GGUF metadata. */
final class GgufTokenizer {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int TYPE_CONTROL = 3;
    private static final int TYPE_USER_DEFINED = 4;

    private final Path file;
    private final GgufMetadata metadata;
    private final List<String> tokens;

    GgufTokenizer(Path file, GgufMetadata metadata) {
        this.file = file;
        this.metadata = metadata;
        this.tokens = metadata.strings("tokenizer.ggml.tokens");
    }

    /** Writes the files; returns false when the GGUF has no tokenizer. */
    boolean write(Path directory) throws IOException {
        Optional<String> model = metadata.string("tokenizer.ggml.model");
        if (model.isEmpty() || model.get().equals("none")) {
            return false;
        }
        ObjectNode root = switch (model.get()) {
            case "gpt2" -> byteLevel();
            case "llama" -> sentencePiece();
            default -> throw unsupported("tokenizer.ggml.model", model.get(), "gpt2 and llama are read");
        };
        Files.writeString(directory.resolve("tokenizer.json"), MAPPER.writeValueAsString(root));
        Files.writeString(directory.resolve("tokenizer_config.json"), config().toPrettyString());
        Files.writeString(
                directory.resolve("generation_config.json"), generation().toPrettyString());
        return true;
    }

    private ObjectNode byteLevel() {
        GgufPreTokenizer split = GgufPreTokenizer.of(metadata)
                .orElseThrow(() -> unsupported(
                        "tokenizer.ggml.pre",
                        metadata.string("tokenizer.ggml.pre").orElse("absent"),
                        "its way of splitting text is not known; use the Hugging Face directory"));
        ObjectNode root = frame();
        split.describe(root);
        root.set("post_processor", postProcessor(split.addsBosByDefault()));
        root.set("decoder", GgufPreTokenizer.byteLevel(true));
        ObjectNode model = root.putObject("model").put("type", "BPE");
        model.putNull("unk_token");
        model.put("byte_fallback", false);
        model.put("ignore_merges", split.ignoresMerges());
        vocabulary(model);
        ArrayNode merges = model.putArray("merges");
        List<String> pairs = metadata.strings("tokenizer.ggml.merges");
        if (pairs.isEmpty()) {
            throw unsupported("tokenizer.ggml.merges", "missing", "a gpt2 tokenizer needs them");
        }
        for (String pair : pairs) {
            int space = pair.indexOf(' ', 1);
            if (space < 0) {
                throw unsupported("tokenizer.ggml.merges", "'" + pair + "'", "a merge is two tokens");
            }
            merges.addArray().add(pair.substring(0, space)).add(pair.substring(space + 1));
        }
        return root;
    }

    private ObjectNode sentencePiece() {
        List<Double> scores = metadata.reals("tokenizer.ggml.scores");
        if (scores.size() != tokens.size()) {
            throw unsupported(
                    "tokenizer.ggml.scores",
                    scores.size() + " scores for " + tokens.size() + " tokens",
                    "a llama tokenizer needs one for each");
        }
        boolean prefix = metadata.bool("tokenizer.ggml.add_space_prefix").orElse(true);
        ObjectNode root = frame();
        ArrayNode normalizers =
                root.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
        if (prefix) {
            normalizers.addObject().put("type", "Prepend").put("prepend", "\u2581");
        }
        replace(normalizers.addObject(), " ", "\u2581");
        root.set("post_processor", postProcessor(true));
        ArrayNode decoders = root.putObject("decoder").put("type", "Sequence").putArray("decoders");
        replace(decoders.addObject(), "\u2581", " ");
        decoders.addObject().put("type", "ByteFallback");
        decoders.addObject().put("type", "Fuse");
        if (prefix) {
            decoders.addObject()
                    .put("type", "Strip")
                    .put("content", " ")
                    .put("start", 1)
                    .put("stop", 0);
        }
        ObjectNode model = root.putObject("model").put("type", "BPE");
        id("unknown_token_id")
                .ifPresentOrElse(id -> model.put("unk_token", tokens.get((int) id)), () -> model.putNull("unk_token"));
        model.put("fuse_unk", true);
        model.put("byte_fallback", true);
        vocabulary(model);
        ArrayNode merges = model.putArray("merges");
        SentencePieceMerges.of(tokens, scores)
                .forEach(merge -> merges.addArray().add(merge.left()).add(merge.right()));
        return root;
    }

    private ObjectNode frame() {
        ObjectNode root = MAPPER.createObjectNode();
        root.put("version", "1.0");
        ArrayNode added = root.putArray("added_tokens");
        List<Long> types = metadata.integers("tokenizer.ggml.token_type");
        for (int id = 0; id < Math.min(types.size(), tokens.size()); id++) {
            long type = types.get(id);
            if (type == TYPE_CONTROL || type == TYPE_USER_DEFINED) {
                added.addObject()
                        .put("id", id)
                        .put("content", tokens.get(id))
                        .put("single_word", false)
                        .put("lstrip", false)
                        .put("rstrip", false)
                        .put("normalized", false)
                        .put("special", type == TYPE_CONTROL);
            }
        }
        return root;
    }

    private void vocabulary(ObjectNode model) {
        ObjectNode vocabulary = model.putObject("vocab");
        for (int id = 0; id < tokens.size(); id++) {
            if (vocabulary.has(tokens.get(id))) {
                throw unsupported(
                        "tokenizer.ggml.tokens", "'" + tokens.get(id) + "' twice", "tokens must be different");
            }
            vocabulary.put(tokens.get(id), id);
        }
    }

    private ObjectNode postProcessor(boolean bosByDefault) {
        ObjectNode template = MAPPER.createObjectNode().put("type", "TemplateProcessing");
        ArrayNode single = template.putArray("single");
        ArrayNode pair = template.putArray("pair");
        ObjectNode specials = template.putObject("special_tokens");
        if (metadata.bool("tokenizer.ggml.add_bos_token").orElse(bosByDefault)) {
            id("bos_token_id").ifPresent(id -> special(single, pair, specials, (int) id));
        }
        sequence(single, "A", 0);
        sequence(pair, "A", 0);
        sequence(pair, "B", 1);
        if (metadata.bool("tokenizer.ggml.add_eos_token").orElse(false)) {
            id("eos_token_id").ifPresent(id -> special(single, pair, specials, (int) id));
        }
        return template;
    }

    private void special(ArrayNode single, ArrayNode pair, ObjectNode specials, int id) {
        String token = tokens.get(id);
        for (ArrayNode sequence : List.of(single, pair)) {
            sequence.addObject().putObject("SpecialToken").put("id", token).put("type_id", 0);
        }
        ObjectNode description = specials.putObject(token).put("id", token);
        description.putArray("ids").add(id);
        description.putArray("tokens").add(token);
    }

    private static void sequence(ArrayNode target, String id, int type) {
        target.addObject().putObject("Sequence").put("id", id).put("type_id", type);
    }

    private static void replace(ObjectNode step, String pattern, String content) {
        step.put("type", "Replace");
        step.putObject("pattern").put("String", pattern);
        step.put("content", content);
    }

    private ObjectNode config() {
        ObjectNode config = MAPPER.createObjectNode();
        config.put("tokenizer_class", "PreTrainedTokenizerFast");
        name(config, "bos_token", "bos_token_id");
        name(config, "eos_token", "eos_token_id");
        name(config, "unk_token", "unknown_token_id");
        name(config, "pad_token", "padding_token_id");
        metadata.bool("tokenizer.ggml.add_bos_token").ifPresent(adds -> config.put("add_bos_token", adds));
        templates(config);
        return config;
    }

    /** The template, or the templates by name when the model has one of its own for tools. */
    private void templates(ObjectNode config) {
        Optional<String> template = metadata.string("tokenizer.chat_template");
        Optional<String> withTools = metadata.string("tokenizer.chat_template." + ChatTemplate.TOOL_USE);
        if (withTools.isEmpty()) {
            template.ifPresent(source -> config.put("chat_template", source));
            return;
        }
        ArrayNode named = config.putArray("chat_template");
        named.addObject().put("name", ChatTemplate.TOOL_USE).put("template", withTools.get());
        template.ifPresent(
                source -> named.addObject().put("name", ChatTemplate.DEFAULT).put("template", source));
    }

    private ObjectNode generation() {
        ObjectNode generation = MAPPER.createObjectNode();
        TreeSet<Long> ends = new TreeSet<>();
        for (String key : List.of("eos_token_id", "eot_token_id", "eom_token_id")) {
            id(key).ifPresent(ends::add);
        }
        ArrayNode list = generation.putArray("eos_token_id");
        ends.forEach(list::add);
        return generation;
    }

    private void name(ObjectNode config, String name, String key) {
        id(key).ifPresent(id -> config.put(name, tokens.get((int) id)));
    }

    private OptionalLong id(String key) {
        OptionalLong id = metadata.integer("tokenizer.ggml." + key);
        return id.isPresent() && id.getAsLong() >= 0 && id.getAsLong() < tokens.size() ? id : OptionalLong.empty();
    }

    private TorchAneException unsupported(String key, String found, String expected) {
        return new TorchAneException(
                file + ": the tokenizer cannot be used: " + key + " is " + found + "; " + expected);
    }
}
