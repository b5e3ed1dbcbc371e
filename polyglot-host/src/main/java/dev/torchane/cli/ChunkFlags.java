package dev.torchane.cli;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.ChunkedCausalLM;
import dev.torchane.ChunkedOptions;
import dev.torchane.build.ChunkLimits;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options of large models, which are built as several programs. */
final class ChunkFlags {

    private static final ChunkLimits DEFAULTS = ChunkLimits.defaults();

    @Option(
            names = "--chunks",
            description =
                    "Build programs of some layers each, straight from the checkpoint: for models that do not fit in memory.")
    private boolean chunks;

    @Option(names = "--chunk-mb", description = "Weights of one program at most, in MB; default 2000.")
    private long megabytes = DEFAULTS.bytes() / 1_000_000;

    @Option(names = "--chunk-layers", description = "Layers of one program at most; default ${DEFAULT-VALUE}.")
    private int layers = DEFAULTS.layers();

    @Option(names = "--chunk-operations", description = "Operations of one function at most; default any number.")
    private int operations = DEFAULTS.operations();

    @Option(
            names = "--resident-mb",
            description =
                    "Weights of a model in chunks that may stay in memory, in MB; default what there is room for.")
    private long resident;

    private ChunkedOptions options(CausalLMOptions model) {
        return new ChunkedOptions(
                model, new ChunkLimits(megabytes * 1_000_000, layers, operations), resident * 1_000_000);
    }

    /** The bundle of a model, built as the flags say. */
    Path build(String model, CausalLMOptions options) {
        Path path = CausalLM.locate(model);
        return chunks ? ChunkedCausalLM.build(path, options(options)) : CausalLM.build(path, options);
    }

    /** A model, built as the flags say; a bundle is taken as it is. */
    CausalLM open(String model, CausalLMOptions options) {
        return chunks || resident > 0
                ? ChunkedCausalLM.fromPretrained(model, options(options))
                : CausalLM.fromPretrained(model, options);
    }
}
