package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A built model on disk: program, weights, manifest, tokenizer files. Read-only; weights are mapped, functions are read
 * when they are asked for. Safe for use by several threads; everything it gave out ends with {@link #close}.
 */
public final class Bundle implements AutoCloseable {

    /** The program's text. */
    public static final String PROGRAM = "model.mil";

    /** The weight file. */
    public static final String WEIGHTS = "weights/weight.bin";

    /** The manifest. */
    public static final String MANIFEST = "manifest.json";

    /** How a program names the weight file. */
    public static final String WEIGHTS_IN_PROGRAM = "@model_path/" + WEIGHTS;

    private final Path directory;
    private final Manifest manifest;
    private final MilDocument program;
    private final WeightFile weights;
    private final Optional<EmbeddingTable> embedding;
    private final Map<String, Function> checked = new HashMap<>();
    private volatile boolean closed;

    private Bundle(Path directory, Manifest manifest, MilDocument program, WeightFile weights) {
        this.directory = directory;
        this.manifest = manifest;
        this.program = program;
        this.weights = weights;
        this.embedding = manifest.languageModel().map(model -> new EmbeddingTable(manifest, weights));
    }

    /**
     * Opens a bundle.
     *
     * @throws TorchAneException when a file is missing, damaged, or leads out of the bundle; names the file and what to do
     */
    public static Bundle open(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new TorchAneException(directory + " is not a bundle: "
                    + (Files.exists(directory) ? "it is no directory" : "it does not exist"));
        }
        Manifest manifest = Manifest.read(inside(directory, MANIFEST));
        MilDocument program = MilText.open(inside(directory, PROGRAM));
        WeightFile weights = WeightFile.open(inside(directory, WEIGHTS));
        try {
            return new Bundle(directory, manifest, program, weights);
        } catch (RuntimeException e) {
            weights.close();
            throw e;
        }
    }

    /** Where the bundle lies. */
    public Path directory() {
        return directory;
    }

    /** What it is. */
    public Manifest manifest() {
        return manifest;
    }

    /** Names of the program's functions. */
    public List<String> functionNames() {
        return program.functionNames();
    }

    /**
     * One function, read and checked at the first call: every operation, and that every blob it names is in the weight file.
     *
     * @throws IllegalArgumentException when the program has no such function
     * @throws TorchAneException when its text is damaged or does not belong to the weights
     */
    public Function function(String name) {
        requireOpen();
        synchronized (checked) {
            Function known = checked.get(name);
            if (known == null) {
                known = program.function(name);
                FunctionCheck.verify(directory.resolve(PROGRAM).toString(), known);
                for (Operation operation : known.operations()) {
                    if (operation.constant().orElse(null) instanceof Literal.Blob blob) {
                        data(blob);
                    }
                }
                checked.put(name, known);
            }
            return known;
        }
    }

    /** The whole program: every function, read and checked. */
    public Program program() {
        return new Program(
                program.version(),
                program.buildInfo(),
                functionNames().stream().map(this::function).toList());
    }

    /**
     * The bytes of a constant in the weight file, a read-only view.
     *
     * @throws TorchAneException when it names another file, no blob, or one of another type
     */
    public MemorySegment data(Literal.Blob blob) {
        requireOpen();
        if (!blob.path().equals(WEIGHTS_IN_PROGRAM)) {
            throw new TorchAneException(directory.resolve(PROGRAM) + ": expected constants in " + WEIGHTS_IN_PROGRAM
                    + ", found '" + blob.path() + "'; paths do not leave a bundle");
        }
        return weights.data(blob.offset(), blob.type());
    }

    /** The weight file. */
    public WeightFile weights() {
        requireOpen();
        return weights;
    }

    /**
     * The token embedding.
     *
     * @throws TorchAneException when the bundle is no language model
     */
    public EmbeddingTable embedding() {
        requireOpen();
        return embedding.orElseThrow(() -> new TorchAneException(
                "the bundle " + directory + " is a " + manifest.kind() + ": it has no token table"));
    }

    /**
     * A further file of the bundle, such as {@code tokenizer.json}, if it is there.
     *
     * @throws TorchAneException when the name leads out of the bundle
     */
    public Optional<Path> file(String name) {
        Path file = inside(directory, name);
        return Files.isRegularFile(file) ? Optional.of(file) : Optional.empty();
    }

    /** Resolves a name below the directory, through symbolic links too. */
    static Path inside(Path directory, String name) {
        try {
            Path file = directory.resolve(name).normalize();
            boolean below = !Path.of(name).isAbsolute() && file.startsWith(directory.normalize());
            if (below && Files.exists(file)) {
                below = file.toRealPath().startsWith(directory.toRealPath());
            }
            if (!below) {
                throw new TorchAneException("'" + name + "' leads out of the bundle " + directory);
            }
            return file;
        } catch (InvalidPathException | IOException e) {
            throw new TorchAneException(
                    "'" + name + "' is no file of the bundle " + directory + ": " + e.getMessage(), e);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the bundle " + directory + " is closed");
        }
    }

    /** Unmaps the weights. Further calls do nothing. */
    @Override
    public void close() {
        closed = true;
        weights.close();
    }
}
