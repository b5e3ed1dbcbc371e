package dev.torchane.cli;

import dev.torchane.CausalLMOptions;
import dev.torchane.build.Progress;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import picocli.CommandLine.Option;

/** Options that say how a model is built; shared by the commands that may build one. */
final class ModelOptions {

    enum Precision {
        FP32(DType.FP32),
        FP16(DType.FP16);

        final DType type;

        Precision(DType type) {
            this.type = type;
        }
    }

    @Option(
            names = "--target",
            description = "Hardware the program is shaped for: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private Target target = Target.CPU;

    @Option(
            names = "--precision",
            description = "Activations of the program: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private Precision precision = Precision.FP32;

    @Option(
            names = "--weights",
            description = "Storage of linear weights: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private WeightEncoding weights = WeightEncoding.STORED;

    @Option(names = "--max-len", description = "Largest context in tokens; default 2048 or the model's own limit.")
    private int maxLen;

    @Option(
            names = "--no-batch",
            description = "Build no functions for eight streams at once: a smaller program, batches run one by one.")
    private boolean noBatch;

    CausalLMOptions.Builder builder(Progress progress) {
        return CausalLMOptions.builder()
                .target(target)
                .precision(precision.type)
                .weights(weights)
                .maxLen(maxLen)
                .batch(!noBatch)
                .progress(progress);
    }
}
