package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import java.util.List;

/** The rewrites that turn a function into one that Core ML takes, in order. */
final class Conversion {

    private Conversion() {}

    static Function of(Function function, PackageWeights weights, CoreMlOptions options) {
        try {
            Function converted = rewrite(function, to -> new StoreConstants(function, options.opset(), weights, to));
            converted = rewrite(
                    converted,
                    to -> options.states() == CoreMlOptions.States.CORE_ML
                            ? new KeepStates(function.name(), to)
                            : new PassStates());
            if (options.halfNorms()) {
                Function wide = converted;
                converted = rewrite(wide, to -> new HalfNorms(wide, to));
            }
            if (!options.opset().atLeast(CoreMlOpset.IOS18)) {
                converted = rewrite(converted, OlderOperations::new);
            }
            converted = rewrite(converted, to -> new FitOperations(options.opset(), weights, to));
            return rewrite(converted, FitInterface::new);
        } catch (IllegalArgumentException e) {
            throw new TorchAneException(
                    "function '" + function.name() + "' has no form in Core ML: " + e.getMessage(), e);
        }
    }

    private static Function rewrite(
            Function function, java.util.function.Function<FunctionBuilder, FunctionCopy.Change> change) {
        FunctionBuilder to = ProgramBuilder.create().function(function.name(), function.opset());
        return FunctionCopy.of(function, to, change.apply(to));
    }

    /** Refuses several functions where a package holds one. */
    static void requireFits(Program program, CoreMlOptions options) {
        List<Function> functions = program.functions();
        if (!options.opset().atLeast(CoreMlOpset.IOS18) && functions.size() != 1) {
            throw new TorchAneException("a package for " + options.opset() + " holds one function, found "
                    + functions.stream().map(Function::name).toList()
                    + ": name one of them, or write a package for IOS18");
        }
    }

    /** The functions under the names that a package gives them: before iOS 18 the only one is {@code main}. */
    static List<Function> named(List<Function> functions, CoreMlOptions options) {
        return options.opset().atLeast(CoreMlOpset.IOS18)
                ? functions
                : functions.stream()
                        .map(only -> new Function(
                                ModelMessages.MAIN, only.opset(), only.inputs(), only.operations(), only.outputs()))
                        .toList();
    }
}
