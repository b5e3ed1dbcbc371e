package dev.torchane.embedding;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the files of sentence-transformers say of a model.
 *
 * @param poolings whose vectors stand one behind the other; mostly one
 * @param normalized whether vectors get the length 1
 * @param maxTokens tokens of a text at most, special ones included
 * @param pad the id behind a text that is shorter than its function
 * @param lowerCase whether texts are made lower case first
 * @param causal whether tokens see those before them only
 * @param prompts what stands in front of a text, by name
 * @param defaultPrompt name of the prompt where none is asked for
 */
public record EmbeddingConfig(
        List<Pooling> poolings,
        boolean normalized,
        int maxTokens,
        int pad,
        boolean lowerCase,
        boolean causal,
        Map<String, String> prompts,
        Optional<String> defaultPrompt) {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String MODULES = "modules.json";
    private static final String SENTENCES = "sentence_bert_config.json";
    private static final String PROMPTS = "config_sentence_transformers.json";

    /** A tokenizer's limit above this means that it has none. */
    private static final long NO_LIMIT = 1_000_000;

    /** Models that count positions from behind the padding token's id. */
    private static final Set<String> SHIFTED = Set.of("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl");

    public EmbeddingConfig {
        poolings = List.copyOf(poolings);
        prompts = Collections.unmodifiableMap(new LinkedHashMap<>(prompts));
    }

    /**
     * Reads a directory: {@code modules.json} with the modules it names, {@code sentence_bert_config.json}, {@code
     * config_sentence_transformers.json}, {@code tokenizer_config.json}, {@code config.json}. Without {@code modules.json} vectors are
     * means of all tokens (of causal models, the last token's) with the length 1.
     *
     * @throws TorchAneException when a file is damaged, or the model has a module that is not known
     */
    public static EmbeddingConfig read(Path directory) {
        JsonNode config = required(directory.resolve("config.json"));
        boolean causal = causal(config);
        List<Pooling> poolings = List.of(causal ? Pooling.LAST : Pooling.MEAN);
        boolean normalized = true;
        Optional<JsonNode> modules = optional(directory.resolve(MODULES));
        if (modules.isPresent()) {
            normalized = false;
            for (JsonNode module : modules.get()) {
                String type = module.path("type").asText();
                switch (type.substring(type.lastIndexOf('.') + 1)) {
                    case "Transformer" -> {}
                    case "Pooling" -> poolings = poolings(directory.resolve(path(module, directory)));
                    case "Normalize" -> normalized = true;
                    default ->
                        throw new TorchAneException(directory.resolve(MODULES) + " names a module of type '" + type
                                + "'; known are Transformer, Pooling and Normalize");
                }
            }
        }
        Optional<JsonNode> sentences = optional(directory.resolve(SENTENCES));
        int pad = config.path("pad_token_id").asInt(0);
        Optional<JsonNode> prompts = optional(directory.resolve(PROMPTS));
        Map<String, String> texts = new LinkedHashMap<>();
        prompts.ifPresent(node -> node.path("prompts")
                .properties()
                .forEach(prompt -> texts.put(prompt.getKey(), prompt.getValue().asText())));
        return new EmbeddingConfig(
                poolings,
                normalized,
                maxTokens(directory, config, sentences, pad),
                pad,
                sentences
                        .map(node -> node.path("do_lower_case").asBoolean(false))
                        .orElse(false),
                causal,
                texts,
                prompts.map(node -> node.path("default_prompt_name"))
                        .filter(JsonNode::isTextual)
                        .map(JsonNode::asText)
                        .filter(texts::containsKey));
    }

    /** The directory of the encoder itself: where {@code modules.json} has it, else the directory. */
    public static Path encoder(Path directory) {
        return optional(directory.resolve(MODULES))
                .flatMap(modules -> {
                    for (JsonNode module : modules) {
                        if (module.path("type").asText().endsWith(".Transformer")
                                && !module.path("path").asText().isEmpty()) {
                            return Optional.of(directory.resolve(path(module, directory)));
                        }
                    }
                    return Optional.<Path>empty();
                })
                .orElse(directory);
    }

    /** The files that are read here, as far as they exist: for digests. */
    public static List<Path> files(Path directory) {
        List<Path> files = new ArrayList<>();
        for (String name : List.of(MODULES, SENTENCES, PROMPTS, "tokenizer_config.json", "tokenizer.json")) {
            files.add(directory.resolve(name));
        }
        optional(directory.resolve(MODULES))
                .ifPresent(modules -> modules.forEach(module -> {
                    String path = path(module, directory);
                    if (!path.isEmpty()) {
                        files.add(directory.resolve(path).resolve("config.json"));
                    }
                }));
        files.removeIf(file -> !Files.isRegularFile(file));
        return files;
    }

    private static String path(JsonNode module, Path directory) {
        String path = module.path("path").asText();
        if (!directory.resolve(path).normalize().startsWith(directory.normalize())) {
            throw new TorchAneException(directory.resolve(MODULES) + ": the path '" + path + "' leaves the directory");
        }
        return path;
    }

    private static boolean causal(JsonNode config) {
        for (JsonNode architecture : config.path("architectures")) {
            if (architecture.asText().endsWith("ForCausalLM")) {
                return true;
            }
        }
        return false;
    }

    private static List<Pooling> poolings(Path folder) {
        Path file = folder.resolve("config.json");
        JsonNode config = required(file);
        if (config.path("pooling_mode").isTextual()) {
            return List.of(named(config.path("pooling_mode").asText(), file));
        }
        Map<String, Pooling> flags = new LinkedHashMap<>();
        flags.put("pooling_mode_cls_token", Pooling.CLS);
        flags.put("pooling_mode_max_tokens", Pooling.MAX);
        flags.put("pooling_mode_mean_tokens", Pooling.MEAN);
        flags.put("pooling_mode_mean_sqrt_len_tokens", Pooling.MEAN_SQRT_LEN);
        flags.put("pooling_mode_weightedmean_tokens", Pooling.WEIGHTED_MEAN);
        flags.put("pooling_mode_lasttoken", Pooling.LAST);
        List<Pooling> chosen = new ArrayList<>();
        flags.forEach((flag, pooling) -> {
            if (config.path(flag).asBoolean(false)) {
                chosen.add(pooling);
            }
        });
        if (chosen.isEmpty()) {
            throw new TorchAneException(file + " sets none of " + flags.keySet());
        }
        return chosen;
    }

    private static Pooling named(String name, Path file) {
        return switch (name) {
            case "cls" -> Pooling.CLS;
            case "max" -> Pooling.MAX;
            case "mean" -> Pooling.MEAN;
            case "mean_sqrt_len", "mean_sqrt_len_tokens" -> Pooling.MEAN_SQRT_LEN;
            case "weightedmean", "weighted_mean" -> Pooling.WEIGHTED_MEAN;
            case "lasttoken", "last" -> Pooling.LAST;
            default ->
                throw new TorchAneException(file + ": unknown pooling_mode '" + name
                        + "'; known are cls, max, mean, mean_sqrt_len_tokens, weightedmean and lasttoken");
        };
    }

    private static int maxTokens(Path directory, JsonNode config, Optional<JsonNode> sentences, int pad) {
        long most = config.path("max_position_embeddings").asLong(512);
        if (SHIFTED.contains(config.path("model_type").asText())) {
            most -= pad + 1;
        }
        long tokenizer = optional(directory.resolve("tokenizer_config.json"))
                .map(node -> (long) node.path("model_max_length").asDouble(NO_LIMIT + 1))
                .filter(limit -> limit <= NO_LIMIT)
                .orElse(Long.MAX_VALUE);
        long sentence = sentences
                .map(node -> node.path("max_seq_length").asLong(Long.MAX_VALUE))
                .orElse(Long.MAX_VALUE);
        long limit = Math.min(most, Math.min(tokenizer, sentence));
        if (limit < 4) {
            throw new TorchAneException(directory + ": its files limit a text to " + limit + " tokens");
        }
        return (int) limit;
    }

    /** For a bundle. */
    public ObjectNode toJson() {
        ObjectNode node = JSON.createObjectNode();
        ArrayNode names = node.putArray("pooling");
        poolings.forEach(pooling -> names.add(pooling.label()));
        node.put("normalized", normalized)
                .put("maxTokens", maxTokens)
                .put("pad", pad)
                .put("lowerCase", lowerCase)
                .put("causal", causal);
        ObjectNode texts = node.putObject("prompts");
        prompts.forEach(texts::put);
        defaultPrompt.ifPresent(name -> node.put("defaultPrompt", name));
        return node;
    }

    /**
     * From a bundle.
     *
     * @throws TorchAneException when something is missing
     */
    public static EmbeddingConfig of(JsonNode node, Path file) {
        try {
            List<Pooling> poolings = new ArrayList<>();
            node.path("pooling")
                    .forEach(name -> poolings.add(Pooling.valueOf(name.asText().toUpperCase(java.util.Locale.ROOT))));
            Map<String, String> prompts = new LinkedHashMap<>();
            node.path("prompts")
                    .properties()
                    .forEach(prompt ->
                            prompts.put(prompt.getKey(), prompt.getValue().asText()));
            int most = node.path("maxTokens").asInt();
            if (poolings.isEmpty() || most < 4) {
                throw new IllegalArgumentException("pooling " + poolings + ", maxTokens " + most);
            }
            return new EmbeddingConfig(
                    poolings,
                    node.path("normalized").asBoolean(),
                    most,
                    node.path("pad").asInt(),
                    node.path("lowerCase").asBoolean(),
                    node.path("causal").asBoolean(),
                    prompts,
                    Optional.ofNullable(node.path("defaultPrompt").textValue()));
        } catch (IllegalArgumentException e) {
            throw new TorchAneException(file + " is damaged: " + e.getMessage() + "; build the model again", e);
        }
    }

    private static JsonNode required(Path file) {
        return optional(file).orElseThrow(() -> new TorchAneException(file + " is missing: a model has one"));
    }

    private static Optional<JsonNode> optional(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(JSON.readTree(Files.readString(file)));
        } catch (JacksonException e) {
            throw new TorchAneException(file + " is damaged: it is not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }
}
