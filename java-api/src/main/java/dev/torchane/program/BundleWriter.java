package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * Writes a bundle into a directory. {@link #finish} makes it durable and reads it back: what it returns from is whole. The
 * caller writes into a temporary sibling and renames.
 */
public final class BundleWriter implements AutoCloseable {

    private final Path directory;
    private final WeightFileWriter weights;

    private BundleWriter(Path directory, WeightFileWriter weights) {
        this.directory = directory;
        this.weights = weights;
    }

    /**
     * Begins a bundle in an existing directory.
     *
     * @throws TorchAneException when it cannot be written
     */
    public static BundleWriter create(Path directory) {
        Path file = directory.resolve(Bundle.WEIGHTS);
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            throw failure(file.getParent(), e);
        }
        return new BundleWriter(directory, WeightFileWriter.create(file));
    }

    /** The weight file, to be appended to. */
    public WeightFileWriter weights() {
        return weights;
    }

    /** A constant of this bundle's weight file. */
    public static Literal.Blob blob(TensorType type, long offset) {
        return new Literal.Blob(type, Bundle.WEIGHTS_IN_PROGRAM, offset);
    }

    /** Writes the program's text. */
    public void program(Program program) {
        file(Bundle.PROGRAM, MilText.write(program).getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes the manifest.
     *
     * @throws TorchAneException when the text is no manifest
     */
    public void manifest(String json) {
        Manifest.parse(json);
        file(Bundle.MANIFEST, json.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes a further file, such as {@code tokenizer.json}.
     *
     * @throws TorchAneException when the name leads out of the bundle, or the file cannot be written
     */
    public void file(String name, byte[] bytes) {
        Path file = Bundle.inside(directory, name);
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /** Copies a further file, such as {@code tokenizer.json}. */
    public void copy(String name, Path from) {
        Path file = Bundle.inside(directory, name);
        try {
            Files.createDirectories(file.getParent());
            Files.copy(from, file);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /**
     * Finishes the weight file, forces every file and directory to the disk, opens the bundle and checks every function.
     *
     * @throws TorchAneException when something is missing, inconsistent or cannot be written
     */
    public void finish() {
        weights.finish();
        weights.close();
        try (Bundle bundle = Bundle.open(directory)) {
            bundle.functionNames().forEach(bundle::function);
        }
        try (Stream<Path> tree = Files.walk(directory)) {
            List<Path> paths = tree.toList();
            for (Path path : paths.reversed()) {
                force(path);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new TorchAneException("cannot force the bundle " + directory + " to the disk: " + e.getMessage(), e);
        }
    }

    private static void force(Path path) throws IOException {
        if (Files.isDirectory(path) && System.getProperty("os.name").startsWith("Windows")) {
            return; // a directory cannot be opened there
        }
        StandardOpenOption mode = Files.isDirectory(path) ? StandardOpenOption.READ : StandardOpenOption.WRITE;
        try (FileChannel channel = FileChannel.open(path, mode)) {
            channel.force(true);
        }
    }

    private static TorchAneException failure(Path file, IOException e) {
        return new TorchAneException(
                "cannot write " + file + " of the bundle: " + e.getMessage() + "; is there room on the disk?", e);
    }

    @Override
    public void close() {
        weights.close();
    }
}
