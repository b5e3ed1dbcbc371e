package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;

/**
 * Apple's Core AI, in a CPython beside Java. On macOS 27 it runs on the Neural Engine, the GPU or the CPU; elsewhere its reference
 * interpreter runs, slow and exact, whatever hardware is asked for. Every row of a window is computed.
 */
public final class CoreAiEngine implements Engine {

    @Override
    public String name() {
        return "coreai";
    }

    @Override
    public boolean available() {
        return CoreAiEnvironment.python().isPresent();
    }

    @Override
    public String unavailableReason() {
        return available() ? "" : CoreAiEnvironment.advice();
    }

    /** {@inheritDoc} All functions are written as one {@code .aimodel} now, and loaded. */
    @Override
    public LoadedProgram load(Bundle bundle, EngineOptions options) {
        return load(bundle, options, CoreAiOptions.defaults());
    }

    /** As {@link #load(Bundle, EngineOptions)}, in another form. */
    public LoadedProgram load(Bundle bundle, EngineOptions options, CoreAiOptions form) {
        HelperLink link = HelperLink.acquire(
                CoreAiEnvironment.python().orElseThrow(() -> new TorchAneException(CoreAiEnvironment.advice())));
        try {
            return new CoreAiProgram(link, bundle, options.units(), form);
        } catch (RuntimeException | Error e) {
            link.release();
            throw e;
        }
    }
}
