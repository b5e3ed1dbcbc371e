package dev.torchane.llm;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.StateStorage;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** A bundle and the language model in it, on the jvm engine. */
record OpenedModel(Bundle bundle, LoadedProgram program, LanguageModel model) implements AutoCloseable {

    static OpenedModel open(Path directory) {
        return open(directory, StateStorage.DECLARED);
    }

    static OpenedModel open(Path directory, StateStorage states) {
        Bundle bundle = Bundle.open(directory);
        EngineOptions options =
                EngineOptions.defaults().withThreads(1).withVector(false).withStates(states);
        LoadedProgram program = Engine.named("jvm").load(bundle, options);
        return new OpenedModel(bundle, program, model(bundle, program));
    }

    private static LanguageModel model(Bundle bundle, LoadedProgram program) {
        return new LanguageModel(program, ModelShape.of(bundle.manifest()), bundle.embedding()::lookup);
    }

    /** The same on an engine that computes every row of a window, whichever are wanted, as hardware with fixed shapes does. */
    OpenedModel withWholeWindows() {
        LoadedProgram whole = new WholeWindows(program);
        return new OpenedModel(bundle, whole, model(bundle, whole));
    }

    @Override
    public void close() {
        program.close();
        bundle.close();
    }

    private record WholeWindows(LoadedProgram program) implements LoadedProgram {
        @Override
        public Set<String> functions() {
            return program.functions();
        }

        @Override
        public LoadedFunction function(String name) {
            return new WholeWindow(program.function(name));
        }

        @Override
        public void close() {
            program.close();
        }
    }

    private record WholeWindow(LoadedFunction function) implements LoadedFunction {
        @Override
        public Function signature() {
            return function.signature();
        }

        @Override
        public State newState() {
            return function.newState();
        }

        @Override
        public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange rows) {
            return function.run(inputs, state, RowRange.ALL);
        }
    }
}
