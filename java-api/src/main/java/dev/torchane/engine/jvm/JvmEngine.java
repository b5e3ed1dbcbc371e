package dev.torchane.engine.jvm;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;
import dev.torchane.program.Program;
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

    /**
     * {@inheritDoc}
     *
     * <p>Weights are packed into the order the kernels read, on all threads; the bundle is not needed afterwards.
     */
    @Override
    public LoadedProgram load(Bundle bundle, EngineOptions options) {
        // Kernels warm up while the program is read.
        KernelChoice.kernels(options);
        return load(bundle.program(), bundle.manifest().rowAxes(), bundle::data, options);
    }

    /** Loads a program whose blobs come from {@code source}; {@code rowAxes} names the row axis of inputs that have one. */
    static LoadedProgram load(
            Program program, Map<String, Integer> rowAxes, WeightSource source, EngineOptions options) {
        return new JvmProgram(program, rowAxes, source, options);
    }
}
