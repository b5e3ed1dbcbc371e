package dev.torchane.engine.jvm;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Program;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** The embedded engine, everywhere available: plans, Vector API kernels, a small pool of threads. */
public final class JvmEngine implements Engine {

    @Override
    public String name() {
        return "jvm";
    }

    @Override
    public boolean available() {
        return true;
    }

    @Override
    public String unavailableReason() {
        return "";
    }

    /** {@inheritDoc} Packed weights are Java arrays; a quarter of the heap is left to everything else. */
    @Override
    public long weightMemory() {
        return Runtime.getRuntime().maxMemory() / 4 * 3;
    }

    /**
     * {@inheritDoc}
     *
     * <p>The first function is read and checked now, and its weights packed into the order the kernels read, on all threads.
     * Other functions are read when they are asked for, and refused then if they cannot run; so the bundle must stay open as
     * long as the program.
     */
    @Override
    public LoadedProgram load(Bundle bundle, EngineOptions options) {
        KernelSet kernels = KernelChoice.kernels(options);
        // Kernels take as long to become fast as weights to be read: both begin now.
        kernels.expect(ExpectedPanels.of(bundle.manifest().weights()));
        return new JvmProgram(
                bundle.functionNames(),
                bundle::function,
                bundle.manifest().rowAxes(),
                WeightSource.of(bundle),
                kernels,
                options);
    }

    /** Loads a program that is in no bundle; {@code blobs} answers the bytes of its constants in weight files. */
    public static LoadedProgram load(
            Program program, java.util.function.Function<Literal.Blob, MemorySegment> blobs, EngineOptions options) {
        return load(program, Map.of(), blobs::apply, options);
    }

    /** Loads a program whose blobs come from {@code source}; {@code rowAxes} names the row axis of inputs that have one. */
    static LoadedProgram load(
            Program program, Map<String, Integer> rowAxes, WeightSource source, EngineOptions options) {
        List<String> names = program.functions().stream().map(Function::name).toList();
        LoadedProgram loaded =
                new JvmProgram(names, program::function, rowAxes, source, KernelChoice.kernels(options), options);
        names.forEach(loaded::function);
        return loaded;
    }
}
