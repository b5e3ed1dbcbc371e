package dev.torchane;

import dev.torchane.build.Exporter;
import dev.torchane.cache.ModelCache;
import dev.torchane.cache.ModelKey;
import dev.torchane.cache.SourceDigest;
import dev.torchane.weights.Checkpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A checkpoint with options, and the bundle that the cache has of it or receives. */
final class CachedModel {

    private static final System.Logger LOG = System.getLogger("dev.torchane.build");

    private final Path checkpoint;
    private final CausalLMOptions options;
    private final Optional<Exporter> exporter;
    private final ModelCache cache;
    private final ModelKey key;

    /**
     * @param exporter what builds; without one only what is built already is had
     * @throws TorchAneException when the checkpoint is damaged or missing
     */
    CachedModel(Path checkpoint, CausalLMOptions options, Optional<Exporter> exporter) {
        this.checkpoint = checkpoint;
        this.options = options;
        this.exporter = exporter;
        this.cache = new ModelCache(options.cache());
        List<Path> files;
        try (Checkpoint opened = Checkpoint.open(checkpoint)) {
            files = opened.files();
        }
        this.key = new ModelKey(
                new SourceDigest(options.cache()).of(files),
                options.build().asText(),
                exporter.map(Exporter::version).orElse(""));
    }

    /** The bundle, built when it is not there yet. */
    Path bundle() {
        return found().orElseGet(this::built);
    }

    /**
     * What is opened from the bundle. One that was in the cache before and cannot be opened is built once more, and replaced
     * when that succeeds.
     *
     * @throws TorchAneException the opening's own, when the bundle has just been built or cannot be built here
     */
    <T> T open(Function<Path, T> opening) {
        Optional<Path> found = found();
        if (found.isEmpty()) {
            return opening.apply(built());
        }
        Path entry = found.get();
        Object identity = ModelCache.identity(entry);
        try {
            return opening.apply(entry);
        } catch (TorchAneException unusable) {
            if (exporter.isEmpty()) {
                throw unusable;
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    () -> "what the cache has of " + checkpoint + " cannot be opened and is built once more: "
                            + unusable.getMessage());
            try {
                return opening.apply(cache.replace(key, identity, this::export));
            } catch (RuntimeException failure) {
                failure.addSuppressed(unusable);
                throw failure;
            }
        }
    }

    private Optional<Path> found() {
        return exporter.isPresent() ? cache.find(key) : cache.findAnyVersion(key);
    }

    private Path built() {
        if (exporter.isEmpty()) {
            throw new TorchAneException(checkpoint
                    + " is not built yet with these options, and what builds it is not on the class path: add"
                    + " dev.torchane:torch-ane-polyglot-host, or build a bundle elsewhere and open that");
        }
        return cache.findOrBuild(key, this::export);
    }

    private void export(Path directory) {
        try (RecordedStages stages = new RecordedStages(checkpoint.toString(), options.progress())) {
            exporter.orElseThrow().exportCausalLM(checkpoint, options.build(), directory, stages);
        }
    }
}
