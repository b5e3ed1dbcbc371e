package dev.torchane;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/** Finds a model by path, or by id in the local Hugging Face cache. Nothing is downloaded. */
final class ModelLocator {

    private final Map<String, String> environment;
    private final Path home;

    ModelLocator(Map<String, String> environment, Path home) {
        this.environment = environment;
        this.home = home;
    }

    static ModelLocator system() {
        return new ModelLocator(System.getenv(), Path.of(System.getProperty("user.home")));
    }

    /**
     * @param idOrPath a path, or an id such as {@code HuggingFaceTB/SmolLM2-135M-Instruct}
     * @throws TorchAneException when there is neither; the message names both places looked at
     */
    Path locate(String idOrPath) {
        try {
            Path path = Path.of(idOrPath);
            if (Files.exists(path)) {
                return path;
            }
        } catch (InvalidPathException notAPath) {
            // an id, then
        }
        if (!idOrPath.matches("[\\w.-]+(/[\\w.-]+)?")) {
            throw new TorchAneException("there is no file or directory '" + idOrPath + "'");
        }
        Path repository = hub().resolve("models--" + idOrPath.replace("/", "--"));
        Path snapshots = repository.resolve("snapshots");
        Path main = repository.resolve("refs/main");
        try {
            if (Files.isRegularFile(main)) {
                Path snapshot = snapshots.resolve(Files.readString(main).strip());
                if (Files.isDirectory(snapshot)) {
                    return snapshot;
                }
            }
            if (Files.isDirectory(snapshots)) {
                try (Stream<Path> all = Files.list(snapshots)) {
                    Path[] found = all.filter(Files::isDirectory).toArray(Path[]::new);
                    if (found.length == 1) {
                        return found[0];
                    }
                }
            }
        } catch (IOException failure) {
            throw new TorchAneException("cannot read " + repository + ": " + failure, failure);
        }
        throw new TorchAneException("there is no file or directory '" + idOrPath
                + "', and the local Hugging Face cache has no snapshot of a model with that id (looked at " + repository
                + "): download the model there first, or give a path");
    }

    private Path hub() {
        String cache = environment.getOrDefault("HF_HUB_CACHE", "");
        if (!cache.isBlank()) {
            return Path.of(cache);
        }
        String hfHome = environment.getOrDefault("HF_HOME", "");
        return (hfHome.isBlank() ? home.resolve(".cache/huggingface") : Path.of(hfHome)).resolve("hub");
    }
}
