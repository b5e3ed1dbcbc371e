package dev.torchane;

import dev.torchane.build.Exporter;
import dev.torchane.cache.ModelCache;
import dev.torchane.cache.ModelKey;
import dev.torchane.cache.SourceDigest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Something to build from files with options, and the entry that the cache has of it or receives. */
final class CachedBuild {

    private static final System.Logger LOG = System.getLogger("dev.torchane.build");

    private final String title;
    private final Optional<Exporter> exporter;
    private final BiConsumer<Exporter, Path> build;
    private final ModelCache cache;
    private final ModelKey key;

    /**
     * @param title what is built, for messages
     * @param root the cache's folder
     * @param files all that it is built from
     * @param options all that decides what becomes of them
     * @param exporter what builds; without one only what is built already is had
     * @param build fills the empty directory it is given
     * @throws TorchAneException when a file cannot be read
     */
    CachedBuild(
            String title,
            Path root,
            List<Path> files,
            SortedMap<String, String> options,
            Optional<Exporter> exporter,
            BiConsumer<Exporter, Path> build) {
        this.title = title;
        this.exporter = exporter;
        this.build = build;
        this.cache = new ModelCache(root);
        this.key = new ModelKey(
                new SourceDigest(root).of(files),
                options,
                exporter.map(Exporter::version).orElse(""));
    }

    /** What builds, when it is on the class path. */
    static Optional<Exporter> exporter() {
        return ServiceLoader.load(Exporter.class).findFirst();
    }

    /** The entry, built when it is not there yet. */
    Path entry() {
        return found().orElseGet(this::built);
    }

    /**
     * What is opened from the entry. One that was in the cache before and cannot be opened is built once more, and replaced
     * when that succeeds.
     *
     * @throws TorchAneException the opening's own, when the entry has just been built or cannot be built here
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
                    () -> "what the cache has of " + title + " cannot be opened and is built once more: "
                            + unusable.getMessage());
            try {
                return opening.apply(cache.replace(key, identity, this::fill));
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
            throw new TorchAneException(
                    title + " is not built yet with these options, and what builds it is not on the class path: add "
                            + TorchAne.HOST_ARTIFACT + ", or build a bundle elsewhere and open that");
        }
        return cache.findOrBuild(key, this::fill);
    }

    private void fill(Path directory) {
        build.accept(exporter.orElseThrow(), directory);
    }
}
