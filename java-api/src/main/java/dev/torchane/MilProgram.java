package dev.torchane;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import dev.torchane.program.WeightFileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A program of hand-written functions, ready to run: made with {@link dev.torchane.program.ProgramBuilder}, or read from MIL
 * text. Its functions are called by name, their inputs and outputs too.
 *
 * <pre>{@code
 * ProgramBuilder program = ProgramBuilder.create();
 * FunctionBuilder f = program.function("double");
 * Value x = f.input("x", TensorType.of(DType.FP16, 1, 64));
 * f.done(f.add("y", x, x));
 * try (MilProgram kernels = MilProgram.of(program.build())) {
 *     Tensor y = kernels.run("double", Map.of("x", tensor)).get("y");
 * }
 * }</pre>
 *
 * <p>Any number of threads may call it. {@link CallQueue} runs calls one behind the other without anybody waiting between them.
 */
public final class MilProgram implements AutoCloseable {

    private final Path temporary;
    private final Bundle bundle;
    private final LoadedProgram program;
    private final SharedUse use;

    private MilProgram(Path temporary, Bundle bundle, LoadedProgram program) {
        this.temporary = temporary;
        this.bundle = bundle;
        this.program = program;
        this.use = new SharedUse("program", this::free);
    }

    /** A program that was made in Java, on the engine {@code jvm}. */
    public static MilProgram of(Program program) {
        return of(program, "jvm", EngineOptions.defaults());
    }

    /**
     * A program that was made in Java. Its constants stand in the program; large weights are inputs, or see the next.
     *
     * @throws TorchAneException when the program names a weight file, or the engine cannot run it
     */
    public static MilProgram of(Program program, String engine, EngineOptions options) {
        Arguments.given(program, "program");
        return of(_ -> program, engine, options);
    }

    /**
     * A program that is made in Java, with large constants.
     *
     * @param maker appends them to the weight file it is given, and answers the program that names them with
     *     {@link dev.torchane.program.BundleWriter#blob}
     */
    public static MilProgram of(
            java.util.function.Function<WeightFileWriter, Program> maker, String engine, EngineOptions options) {
        Arguments.given(maker, "maker");
        return load(directory -> MilFile.writeBundle(directory, "cpu", maker), engine, options);
    }

    /**
     * A program from MIL text and its weights.
     *
     * @throws TorchAneException when something cannot run or is missing; names where it stands
     */
    public static MilProgram of(MilFile file, String engine, EngineOptions options) {
        Arguments.given(file, "file");
        return load(directory -> file.writeBundle(directory, "cpu"), engine, options);
    }

    private static MilProgram load(Consumer<Path> writer, String engine, EngineOptions options) {
        Engine chosen = Engine.named(Arguments.given(engine, "engine"));
        Arguments.given(options, "options");
        Path directory = null;
        Bundle bundle = null;
        try {
            directory = Files.createTempDirectory("torch-ane-mil-");
            writer.accept(directory);
            bundle = Bundle.open(directory);
            return new MilProgram(directory, bundle, chosen.load(bundle, options));
        } catch (IOException e) {
            throw new TorchAneException("cannot make a temporary directory for the program: " + e.getMessage(), e);
        } catch (RuntimeException | Error failure) {
            if (bundle != null) {
                bundle.close();
            }
            delete(directory);
            throw failure;
        }
    }

    /** Names of the functions, in the order of the program. */
    public List<String> functions() {
        use.requireOpen();
        return bundle.functionNames();
    }

    /**
     * A function's inputs, states, operations and outputs.
     *
     * @throws IllegalArgumentException when there is none of that name; the message lists the names
     */
    public Function function(String name) {
        return use.run(() -> loaded(name).signature());
    }

    /** Fresh states, all zero, for a function; functions with states of the same name and type can share them. */
    public State newState(String function) {
        return use.run(() -> loaded(function).newState());
    }

    /** Calls a function that has no states, or begins with fresh ones. */
    public Map<String, Tensor> run(String function, Map<String, Tensor> inputs) {
        return use.run(() -> {
            LoadedFunction called = loaded(function);
            try (State state = called.newState()) {
                return called.run(inputs, state);
            }
        });
    }

    /**
     * Calls a function.
     *
     * @param state from {@link #newState}; written in place
     * @return the outputs by name; the tensors belong to the caller
     * @throws IllegalArgumentException when there is no such function, or inputs do not fit
     * @throws IllegalStateException after {@link #close}
     */
    public Map<String, Tensor> run(String function, Map<String, Tensor> inputs, State state) {
        return use.run(() -> loaded(function).run(inputs, state));
    }

    private LoadedFunction loaded(String name) {
        if (!bundle.functionNames().contains(name)) {
            throw new IllegalArgumentException(
                    "the program has no function '" + name + "'; it has " + bundle.functionNames());
        }
        return program.function(name);
    }

    private void free() {
        program.close();
        bundle.close();
        delete(temporary);
    }

    private static void delete(Path directory) {
        if (directory == null) {
            return;
        }
        try (Stream<Path> tree = Files.walk(directory)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the temporary files " + directory, e);
        }
    }

    /** Frees the program when no call runs any more; idempotent, and from any thread. */
    @Override
    public void close() {
        use.close();
    }
}
