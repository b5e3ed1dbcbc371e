package dev.torchane.llm;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.program.Bundle;
import java.nio.file.Path;

/** A bundle and the language model in it, on the jvm engine. */
record OpenedModel(Bundle bundle, LoadedProgram program, LanguageModel model) implements AutoCloseable {

    static OpenedModel open(Path directory) {
        Bundle bundle = Bundle.open(directory);
        EngineOptions options =
                EngineOptions.defaults().withThreads(1).withVector(false).withNumerics(Numerics.FP32);
        LoadedProgram program = Engine.named("jvm").load(bundle, options);
        return new OpenedModel(
                bundle,
                program,
                new LanguageModel(program, ModelShape.of(bundle.manifest()), bundle.embedding()::lookup));
    }

    @Override
    public void close() {
        program.close();
        bundle.close();
    }
}
