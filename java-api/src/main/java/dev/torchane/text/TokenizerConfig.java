package dev.torchane.text;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What lies beside a tokenizer.json.
 *
 * @param bos token that begins a text
 * @param ends tokens that end a generation, from every file that names any
 * @param chatTemplate the model's template
 */
record TokenizerConfig(OptionalInt bos, SortedSet<Integer> ends, Optional<ChatTemplate> chatTemplate) {

    /** A folder of templates by name, as transformers saves them beside chat_template.jinja. */
    static final String TEMPLATES = "additional_chat_templates";

    private static final System.Logger LOGGER = System.getLogger(TokenizerConfig.class.getName());
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /** Ends of a turn; one that the chat template writes ends a generation even where no file says so. */
    private static final List<String> TURN_ENDS =
            List.of("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end_of_turn|>");

    static TokenizerConfig read(Path directory, Vocabulary vocabulary) {
        JsonNode tokenizer = json(directory.resolve("tokenizer_config.json"));
        JsonNode specials = json(directory.resolve("special_tokens_map.json"));
        Map<String, Object> named = new TreeMap<>();
        for (JsonNode source : List.of(specials, tokenizer)) {
            for (Map.Entry<String, JsonNode> field : source.properties()) {
                String text = tokenText(field.getValue());
                if (field.getKey().endsWith("_token") && !text.isEmpty()) {
                    named.put(field.getKey(), text);
                }
            }
        }
        Optional<ChatTemplate> template = template(directory, tokenizer, named, vocabulary);
        OptionalInt bos = vocabulary.id(named.getOrDefault("bos_token", "").toString());
        SortedSet<Integer> ends = new TreeSet<>();
        vocabulary.id(named.getOrDefault("eos_token", "").toString()).ifPresent(ends::add);
        for (String file : List.of("config.json", "generation_config.json")) {
            addEnds(directory.resolve(file), ends);
        }
        template.ifPresent(t -> TURN_ENDS.stream()
                .filter(end -> t.source().contains(end))
                .forEach(end -> vocabulary.id(end).ifPresent(ends::add)));
        return new TokenizerConfig(bos, ends, template);
    }

    private static void addEnds(Path file, SortedSet<Integer> ends) {
        JsonNode eos = json(file).path("eos_token_id");
        for (JsonNode id : eos.isArray() ? eos : List.of(eos)) {
            if (id.canConvertToInt() && id.isIntegralNumber()) {
                ends.add(id.intValue());
            } else if (!id.isMissingNode() && !id.isNull()) {
                throw new TorchAneException(
                        file + ": eos_token_id is " + eos + "; expected a token's id, or a list of ids");
            }
        }
    }

    private static Optional<ChatTemplate> template(
            Path directory, JsonNode tokenizer, Map<String, Object> named, Vocabulary vocabulary) {
        Map<String, String> sources = new TreeMap<>();
        JsonNode inConfig = tokenizer.path("chat_template");
        if (inConfig.isTextual()) {
            sources.put(ChatTemplate.DEFAULT, inConfig.asText());
        }
        if (inConfig.isArray()) {
            inConfig.forEach(entry -> sources.put(
                    entry.path("name").asText(), entry.path("template").asText()));
        } else if (!inConfig.isTextual() && !inConfig.isMissingNode() && !inConfig.isNull()) {
            throw new TorchAneException(directory.resolve("tokenizer_config.json") + ": chat_template is "
                    + inConfig.getNodeType() + "; expected a text, or a list of named ones");
        }
        JsonNode legacy = json(directory.resolve("chat_template.json")).path("chat_template");
        if (legacy.isTextual()) {
            sources.put(ChatTemplate.DEFAULT, legacy.asText());
        }
        sources.putAll(named(directory.resolve(TEMPLATES)));
        Path sidecar = directory.resolve("chat_template.jinja");
        if (Files.isRegularFile(sidecar)) {
            sources.put(ChatTemplate.DEFAULT, text(sidecar));
        }
        if (sources.containsKey(ChatTemplate.DEFAULT)) {
            return Optional.of(new ChatTemplate(sources, named));
        }
        boolean chatMl = vocabulary.id("<|im_start|>").isPresent()
                && vocabulary.id("<|im_end|>").isPresent();
        if (!chatMl) {
            return Optional.empty();
        }
        LOGGER.log(
                Level.INFO, "{0} has no chat template; its vocabulary has ChatML''s tokens: ChatML is used", directory);
        return Optional.of(ChatTemplate.chatMl());
    }

    /** Templates by the names of their files. */
    private static Map<String, String> named(Path folder) {
        if (!Files.isDirectory(folder)) {
            return Map.of();
        }
        Map<String, String> sources = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jinja")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                sources.put(name.substring(0, name.length() - ".jinja".length()), text(file));
            }
            return sources;
        } catch (IOException e) {
            throw new TorchAneException(folder + " cannot be read: " + e, e);
        }
    }

    /** The text of a token that is written as such or as an object; empty for anything else. */
    static String tokenText(JsonNode value) {
        return value.isObject() ? value.path("content").asText() : value.isTextual() ? value.asText() : "";
    }

    /** The object in a file; missing where there is no file. */
    static JsonNode json(Path file) {
        if (!Files.isRegularFile(file)) {
            return MAPPER.missingNode();
        }
        try {
            JsonNode node = MAPPER.readTree(text(file));
            if (!node.isObject()) {
                throw new TorchAneException(file + " is damaged: expected a JSON object, found "
                        + (node.isMissingNode() ? "an empty file" : node.getNodeType()));
            }
            return node;
        } catch (JacksonException e) {
            throw new TorchAneException(file + " is damaged: it is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }
}
