package dev.torchane.weights;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A model's weights and configuration as somebody published them: a Hugging Face directory, a safetensors file beside its
 * config.json, or a GGUF file. Tensors carry Hugging Face names in every case. Views live until {@link #close()}.
 */
public final class Checkpoint implements AutoCloseable {

    /** How the files are mapped. */
    public enum Access {
        /** Writing to a view is an error. */
        READ_ONLY,
        /**
         * Writing to a view changes this process's copy of the page, never the file. Files that this process may not
         * write are read into memory instead.
         */
        COPY_ON_WRITE
    }

    /** What kind of file the weights come from. */
    public enum Format {
        SAFETENSORS,
        GGUF
    }

    private static final String EMBEDDING = "embed_tokens.weight";
    private static final String HEAD = "lm_head.weight";

    /** Model types whose head is tied to the embedding unless the configuration says otherwise. */
    private static final Set<String> TIED_BY_DEFAULT = Set.of("gemma", "gemma2", "gemma3", "gemma3_text", "gpt2");

    private final Path path;
    private final Format format;
    private final Arena arena;
    private final List<Path> files;
    private final ObjectNode config;
    private final Map<String, WeightTensor> tensors;
    private final Optional<GgufMetadata> gguf;

    private Checkpoint(
            Path path,
            Format format,
            Arena arena,
            List<Path> files,
            ObjectNode config,
            Map<String, WeightTensor> tensors,
            Optional<GgufMetadata> gguf) {
        this.path = path;
        this.format = format;
        this.arena = arena;
        this.files = List.copyOf(files);
        this.config = config;
        this.tensors = Collections.unmodifiableMap(tensors);
        this.gguf = gguf;
    }

    /** Opens a checkpoint read-only. See {@link #open(Path, Access)}. */
    public static Checkpoint open(Path path) {
        return open(path, Access.READ_ONLY);
    }

    /**
     * Opens a checkpoint: maps its files and checks every header. Reads no weights.
     *
     * @param path a directory with config.json and safetensors files, a .safetensors file beside a config.json, or a GGUF
     *     file
     * @throws CheckpointException when anything is wrong with it
     */
    public static Checkpoint open(Path path, Access access) {
        Arena arena = Arena.ofShared();
        try {
            return open(path, access, arena);
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    private static Checkpoint open(Path path, Access access, Arena arena) {
        if (Files.isDirectory(path)) {
            ObjectNode config = HuggingFaceDirectory.config(path);
            List<Path> weights = HuggingFaceDirectory.weightFiles(path);
            Map<String, WeightTensor> tensors = HuggingFaceDirectory.tensors(path, weights, access, arena);
            return new Checkpoint(
                    path, Format.SAFETENSORS, arena, withCompanions(weights, path), config, tensors, Optional.empty());
        }
        if (!Files.isRegularFile(path)) {
            throw new CheckpointFault.NotACheckpoint(path, "there is no such file or directory").exception();
        }
        MappedFile mapped = MappedFile.map(path, access, arena);
        if (path.toString().endsWith(".safetensors")) {
            Path directory = path.toAbsolutePath().getParent();
            Map<String, WeightTensor> tensors = SafetensorsFile.read(mapped);
            ObjectNode config = HuggingFaceDirectory.config(directory);
            List<Path> files = withCompanions(List.of(path), directory);
            return new Checkpoint(path, Format.SAFETENSORS, arena, files, config, tensors, Optional.empty());
        }
        if (!path.toString().endsWith(".gguf")) {
            String found = FileProbe.recognise(mapped.bytes()).orElse("it is a file of an unknown kind");
            throw new CheckpointFault.NotACheckpoint(path, found).exception();
        }
        GgufFile file = GgufFile.read(mapped);
        GgufModel model = GgufModel.of(file);
        return new Checkpoint(
                path, Format.GGUF, arena, List.of(path), model.config(), model.tensors(), Optional.of(file.metadata()));
    }

    private static List<Path> withCompanions(List<Path> weights, Path directory) {
        List<Path> files = new ArrayList<>(weights);
        files.addAll(HuggingFaceDirectory.companions(directory));
        return files;
    }

    /** Where the checkpoint was opened. */
    public Path path() {
        return path;
    }

    /** The kind of file the weights come from. */
    public Format format() {
        return format;
    }

    /** Every file whose content shapes a build: weights, configuration, tokenizer, chat template. */
    public List<Path> files() {
        return files;
    }

    /** The Hugging Face configuration: config.json as it stands, or one made from GGUF metadata. */
    public String configJson() {
        return config.toPrettyString();
    }

    /** GGUF metadata, when this is a GGUF file. */
    public Optional<GgufMetadata> gguf() {
        return gguf;
    }

    /** All tensors by Hugging Face name, in the files' order; may be empty. */
    public Map<String, WeightTensor> tensors() {
        return tensors;
    }

    /**
     * A tensor by its Hugging Face name.
     *
     * @throws CheckpointException when there is none
     */
    public WeightTensor tensor(String name) {
        WeightTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new CheckpointFault.MissingTensor(path, name, "the checkpoint has " + tensors.size() + " others")
                    .exception();
        }
        return tensor;
    }

    /**
     * Whether the output head is the embedding table. As in transformers 5: a configuration that ties them is overruled
     * by a file that holds a different head. Of a model whose embedding has another name than usual, the configuration is
     * believed.
     *
     * @throws CheckpointException when there are no weights, or the configuration says they are not tied and there is no
     *     {@code lm_head.weight}
     */
    public boolean hasTiedHead() {
        if (tensors.isEmpty()) {
            throw new CheckpointFault.NoWeights(path).exception();
        }
        boolean tied = saysTied();
        Optional<WeightTensor> embedding = endingWith(EMBEDDING);
        Optional<WeightTensor> head = endingWith(HEAD);
        if (embedding.isEmpty()) {
            return tied;
        }
        if (head.isEmpty() && !tied) {
            throw new CheckpointFault.MissingTensor(
                            path,
                            HEAD,
                            "tie_word_embeddings is " + (config.has("tie_word_embeddings") ? "false" : "not set")
                                    + " in the configuration, so the head must be there")
                    .exception();
        }
        return tied && head.map(own -> isSame(own, embedding.get())).orElse(true);
    }

    private Optional<WeightTensor> endingWith(String name) {
        return Optional.ofNullable(tensors.get(name))
                .or(() -> tensors.values().stream()
                        .filter(tensor -> tensor.name().endsWith("." + name))
                        .findFirst());
    }

    private static boolean isSame(WeightTensor a, WeightTensor b) {
        return a.type() == b.type() && a.shape().equals(b.shape()) && a.data().mismatch(b.data()) < 0;
    }

    private boolean saysTied() {
        for (JsonNode part : List.of(config, config.path("text_config"))) {
            JsonNode value = part.path("tie_word_embeddings");
            if (value.isBoolean()) {
                return value.booleanValue();
            }
        }
        return TIED_BY_DEFAULT.contains(config.path("model_type").asText());
    }

    /** Unmaps the files. Views of tensors must not be used afterwards; doing so throws, it does not crash. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
