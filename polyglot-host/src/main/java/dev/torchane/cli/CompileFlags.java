package dev.torchane.cli;

import dev.torchane.CompileOptions;
import dev.torchane.build.Progress;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Engine;
import picocli.CommandLine.Option;

/** Options that say how modules are compiled, and what runs them. */
final class CompileFlags {

    @Option(
            names = "--target",
            description = "Hardware the programs are shaped for: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private Target target = Target.CPU;

    @Option(
            names = "--precision",
            description = "Activations of the programs: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private ModelOptions.Precision precision = ModelOptions.Precision.FP32;

    @Option(
            names = "--weights",
            description =
                    "Storage of linear weights: ${COMPLETION-CANDIDATES}; default FP32, or FP16 with that precision.")
    private WeightEncoding weights;

    @Option(names = "--engine", description = "Engine that runs the programs; default ${DEFAULT-VALUE}.")
    private String engine = Engine.defaultName();

    @Option(names = "--threads", description = "Worker threads; default the physical cores.")
    private int threads;

    CompileOptions options(Progress progress) {
        CompileOptions.Builder builder = CompileOptions.builder()
                .target(target)
                .precision(precision.type)
                .engine(engine)
                .threads(threads)
                .progress(progress);
        return (weights == null ? builder : builder.weights(weights)).build();
    }
}
