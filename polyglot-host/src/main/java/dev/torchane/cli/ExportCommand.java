package dev.torchane.cli;

import dev.torchane.build.Target;
import dev.torchane.engine.coreai.CoreAiModel;
import dev.torchane.engine.coreai.CoreAiOptions;
import dev.torchane.engine.coreml.CoreMlOpset;
import dev.torchane.engine.coreml.CoreMlOptions;
import dev.torchane.engine.coreml.CoreMlPackage;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code export BUNDLE -o PACKAGE}. */
@Command(
        name = "export",
        description = "Writes a bundle's program as a Core ML package (.mlpackage) or a Core AI model (.aimodel).",
        mixinStandardHelpOptions = true)
final class ExportCommand implements Runnable {

    @Parameters(index = "0", paramLabel = "BUNDLE", description = "A bundle that build or compile made.")
    private Path bundle = Path.of("");

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "What to make, by its ending; it must not exist.")
    private Path output = Path.of("");

    @Option(
            names = "--opset",
            description = "Oldest system that loads it: ${COMPLETION-CANDIDATES} (and the macOS of its year); default"
                    + " ${DEFAULT-VALUE}.")
    private CoreMlOpset opset = CoreMlOpset.IOS18;

    @Option(
            names = "--states",
            description = "Who keeps states: ${COMPLETION-CANDIDATES} (VALUES: they are inputs and outputs); default"
                    + " ${DEFAULT-VALUE}. Before IOS18 always VALUES.")
    private CoreMlOptions.States states = CoreMlOptions.States.CORE_ML;

    @Option(names = "--function", description = "Function to write; default all. Before IOS18 a package holds one.")
    private List<String> functions = List.of();

    @Option(
            names = "--half-norms",
            description = "Core ML: compute RMS norms of fp16 programs in fp16 too, for the Neural Engine.")
    private boolean halfNorms;

    @Option(
            names = "--cache-writes",
            description = "Core AI: how windows get into a cache: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private CoreAiOptions.CacheWrites cacheWrites = CoreAiOptions.CacheWrites.SLICE_UPDATE;

    @Option(
            names = "--no-composites",
            description = "Core AI: write the members of groups instead of composite operations.")
    private boolean noComposites;

    @Override
    public void run() {
        try (Bundle opened = Bundle.open(bundle)) {
            if (output.toString().endsWith(CoreAiModel.SUFFIX)) {
                CoreAiOptions options = CoreAiOptions.defaults()
                        .withCacheWrites(cacheWrites)
                        .withComposites(!noComposites)
                        .withFunctions(functions);
                CoreAiModel.write(opened, output, options);
                System.out.println(output);
                return;
            }
            CoreMlPackage.write(opened, output, new CoreMlOptions(opset, states, functions, halfNorms));
            advise(opened);
        }
        System.out.println(output);
    }

    /** Core ML follows the types of a program, and its Neural Engine has no fp32. */
    private static void advise(Bundle bundle) {
        boolean wide = bundle.functionNames().stream()
                .flatMap(name -> bundle.function(name).tensors().stream())
                .anyMatch(input -> input.type().dtype() == DType.FP32);
        if (wide && bundle.manifest().target().equals(Target.ANE.id())) {
            System.err.println("the program computes in fp32, which Core ML keeps off the Neural Engine; build it with"
                    + " --precision FP16 as well as --target ANE");
        }
    }
}
