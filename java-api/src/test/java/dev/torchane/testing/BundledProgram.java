package dev.torchane.testing;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** Programs that a test made in memory, as bundles. */
public final class BundledProgram {

    private BundledProgram() {}

    /** Writes a program and the blobs it names. */
    public static Path write(Path directory, Program program, Function<Literal.Blob, MemorySegment> bytes) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<Literal.Blob, Literal.Blob> moved = new HashMap<>();
        MilFile.writeBundle(
                directory,
                "cpu",
                writer -> program.withBlobs(blob -> moved.computeIfAbsent(
                        blob, _ -> BundleWriter.blob(blob.type(), writer.append(blob.type(), bytes.apply(blob))))));
        return directory;
    }

    /** Runs the only function of a program on an engine, and gives its results in order. */
    public static List<Tensor> run(
            Program program, Function<Literal.Blob, MemorySegment> bytes, String engine, Map<String, Tensor> inputs) {
        Path directory = temporary();
        try (Bundle bundle = Bundle.open(write(directory, program, bytes));
                LoadedProgram loaded = Engine.named(engine).load(bundle, EngineOptions.defaults())) {
            LoadedFunction function = loaded.function(bundle.functionNames().getFirst());
            try (State state = function.newState()) {
                Map<String, Tensor> outputs = function.run(inputs, state);
                return function.signature().outputs().stream()
                        .map(output -> outputs.get(output.name()))
                        .toList();
            }
        } finally {
            delete(directory);
        }
    }

    /** A program that stays loaded. */
    public record Kept(Path directory, Bundle bundle, LoadedProgram program) implements AutoCloseable {
        @Override
        public void close() {
            program.close();
            bundle.close();
            delete(directory);
        }
    }

    /** Loads a small program. */
    static Kept keep(Engine engine) {
        ProgramBuilder builder = ProgramBuilder.create();
        FunctionBuilder f = builder.function("main");
        f.done(f.unary("exp", "y", f.input("x", TensorType.of(DType.FP32, 4))));
        Path directory = temporary();
        Bundle bundle = Bundle.open(write(directory, builder.build(), _ -> MemorySegment.NULL));
        return new Kept(directory, bundle, engine.load(bundle, EngineOptions.defaults()));
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("torch-ane-test-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
