package dev.torchane.cli;

import dev.torchane.TorchAneException;
import dev.torchane.cache.ModelCache;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code build MODEL -o BUNDLE}. */
@Command(name = "build", description = "Builds a model into a bundle.", mixinStandardHelpOptions = true)
final class BuildCommand implements Runnable {

    private static final long LARGE = 100_000_000;

    @Parameters(index = "0", paramLabel = "MODEL", description = "Hugging Face directory, GGUF file or id.")
    private String model = "";

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "BUNDLE",
            description = "Directory to make; it must not exist.")
    private Path output = Path.of("");

    @Mixin
    private ModelOptions options = new ModelOptions();

    @Mixin
    private ChunkFlags chunks = new ChunkFlags();

    @Override
    public void run() {
        if (Files.exists(output)) {
            throw new TorchAneException(output + " exists: choose another name, or remove it first");
        }
        try (ConsoleProgress progress = new ConsoleProgress(System.err)) {
            Path bundle = chunks.build(model, options.builder(progress).build());
            ModelCache.install(output, directory -> copy(bundle, directory));
        }
        System.out.println(output);
    }

    /** Whether a file has a second name now: bundles are never changed, so large weights need not be there twice. */
    private static boolean linked(Path file, Path target) {
        try {
            Files.createLink(target, file);
            return true;
        } catch (IOException | UnsupportedOperationException elsewhere) {
            return false;
        }
    }

    static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else if (Files.size(file) < LARGE || !linked(file, target)) {
                    Files.copy(file, target);
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
