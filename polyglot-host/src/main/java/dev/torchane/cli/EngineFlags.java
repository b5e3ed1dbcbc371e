package dev.torchane.cli;

import dev.torchane.CausalLMOptions;
import dev.torchane.engine.Engine;
import dev.torchane.engine.StateStorage;
import picocli.CommandLine.Option;

/** Options that say what runs a model; shared by the commands that run one. */
final class EngineFlags {

    @Option(names = "--engine", description = "Engine that runs the model; default ${DEFAULT-VALUE}.")
    private String engine = Engine.defaultName();

    @Option(names = "--threads", description = "Worker threads; default the physical cores.")
    private int threads;

    @Option(
            names = "--kv-cache",
            description = "How keys and values are kept: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private StateStorage kvCache = StateStorage.DECLARED;

    CausalLMOptions.Builder applyTo(CausalLMOptions.Builder options) {
        return options.engine(engine).threads(threads).kvCache(kvCache);
    }
}
