package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;

/** Core ML: packages are written here ({@link CoreMlPackage}) and run by Apple's own runtime, from an application of its own. */
public final class CoreMlEngine implements Engine {

    @Override
    public String name() {
        return "coreml";
    }

    @Override
    public boolean available() {
        return false;
    }

    @Override
    public String unavailableReason() {
        return "Core ML is written, not run, from Java: ./torch-ane export BUNDLE -o model.mlpackage makes the package that"
                + " Xcode, an app or coremltools loads; the engine 'jvm' runs the same bundle here";
    }

    /**
     * Loads nothing.
     *
     * @throws TorchAneException always; says what to do
     */
    @Override
    public LoadedProgram load(Bundle bundle, EngineOptions options) {
        throw new TorchAneException(unavailableReason());
    }
}
