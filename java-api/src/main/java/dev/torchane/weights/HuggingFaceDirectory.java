package dev.torchane.weights;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** A directory as Hugging Face lays it out: config.json beside one or several safetensors files. */
final class HuggingFaceDirectory {

    private static final String SINGLE = "model.safetensors";
    private static final String INDEX = "model.safetensors.index.json";

    /** Files beside the weights that shape a build: configuration, tokenizer, chat template. */
    private static final List<String> COMPANIONS = List.of(
            "config.json",
            "generation_config.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "tokenizer.model",
            "special_tokens_map.json",
            "added_tokens.json",
            "vocab.json",
            "merges.txt",
            "chat_template.jinja",
            "chat_template.json");

    /** A folder of chat templates by name, beside the one in chat_template.jinja. */
    private static final String TEMPLATES = "additional_chat_templates";

    private HuggingFaceDirectory() {}

    /** What lies beside the weights, in an order that does not change. */
    static List<Path> companions(Path directory) {
        return Stream.concat(COMPANIONS.stream().map(directory::resolve), templates(directory.resolve(TEMPLATES)))
                .filter(Files::isRegularFile)
                .toList();
    }

    private static Stream<Path> templates(Path folder) {
        if (!Files.isDirectory(folder)) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".jinja")).sorted().toList().stream();
        } catch (IOException e) {
            throw new CheckpointFault.Unreadable(folder, e.toString()).exception(e);
        }
    }

    static ObjectNode config(Path directory) {
        Path config = directory.resolve("config.json");
        if (!Files.isRegularFile(config)) {
            throw new CheckpointFault.NotACheckpoint(directory, "it has no config.json").exception();
        }
        return Json.object(config);
    }

    /** The files that hold the weights, checked to be there. */
    static List<Path> weightFiles(Path directory) {
        Path index = directory.resolve(INDEX);
        if (Files.isRegularFile(index)) {
            return shards(index).keySet().stream().map(directory::resolve).toList();
        }
        Path single = directory.resolve(SINGLE);
        if (Files.isRegularFile(single)) {
            return List.of(single);
        }
        throw new CheckpointFault.NotACheckpoint(directory, whatElse(directory)).exception();
    }

    /** All tensors of all files; a name in two files, or in another file than the index says, is refused. */
    static Map<String, WeightTensor> tensors(Path directory, List<Path> files, Checkpoint.Access access, Arena arena) {
        Map<String, WeightTensor> tensors = new LinkedHashMap<>();
        Map<String, Path> homes = new LinkedHashMap<>();
        for (Path file : files) {
            SafetensorsFile.read(MappedFile.map(file, access, arena)).forEach((name, tensor) -> {
                Path other = homes.put(name, file);
                if (other != null) {
                    throw new CheckpointFault.BadTensor(file, name, "is in " + other.getFileName() + " too")
                            .exception();
                }
                tensors.put(name, tensor);
            });
        }
        Path index = directory.resolve(INDEX);
        if (Files.isRegularFile(index)) {
            shards(index)
                    .forEach((shard, names) -> names.forEach(name -> {
                        if (!directory.resolve(shard).equals(homes.get(name))) {
                            throw new CheckpointFault.MissingTensor(
                                            directory.resolve(shard), name, "the index says it is there")
                                    .exception();
                        }
                    }));
        }
        return tensors;
    }

    /** File name to tensor names, from an index whose files are all there. */
    private static Map<String, TreeSet<String>> shards(Path index) {
        JsonNode map = Json.object(index).path("weight_map");
        if (!map.isObject() || map.isEmpty()) {
            throw new CheckpointFault.BadConfig(index, "weight_map", "is missing or empty").exception();
        }
        Map<String, TreeSet<String>> shards = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : map.properties()) {
            String shard = entry.getValue().asText();
            boolean plain = entry.getValue().isTextual() && shard.matches("[\\w.-]+") && !shard.startsWith(".");
            if (!plain) {
                throw new CheckpointFault.BadConfig(
                                index, "weight_map", "names '" + shard + "' as a file; expected a plain file name")
                        .exception();
            }
            shards.computeIfAbsent(shard, s -> new TreeSet<>()).add(entry.getKey());
        }
        List<String> missing = new ArrayList<>();
        for (String shard : shards.keySet()) {
            if (!Files.isRegularFile(index.resolveSibling(shard))) {
                missing.add(shard);
            }
        }
        if (!missing.isEmpty()) {
            throw new CheckpointFault.MissingShards(index, missing, shards.size()).exception();
        }
        return shards;
    }

    private static String whatElse(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            List<String> names =
                    entries.map(p -> p.getFileName().toString()).sorted().toList();
            List<String> pickles = names.stream()
                    .filter(n -> n.matches(".*\\.(bin|pt|pth|ckpt)"))
                    .toList();
            if (!pickles.isEmpty()) {
                return "its weights are PyTorch pickles (" + String.join(", ", pickles)
                        + "), which can run code and are never loaded; convert them to safetensors first";
            }
            List<String> ggufs = names.stream().filter(n -> n.endsWith(".gguf")).toList();
            if (!ggufs.isEmpty()) {
                return "it holds GGUF files; name one of them: " + String.join(", ", ggufs);
            }
            List<String> others =
                    names.stream().filter(n -> n.endsWith(".safetensors")).toList();
            if (!others.isEmpty()) {
                return "it has neither " + SINGLE + " nor " + INDEX + ", only " + String.join(", ", others);
            }
            return "it has no " + SINGLE + " and no " + INDEX;
        } catch (IOException e) {
            throw new CheckpointFault.Unreadable(directory, e.toString()).exception(e);
        }
    }
}
