package dev.torchane.cli;

import dev.torchane.build.ChunkLimits;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.program.AneRules;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.Manifest;
import dev.torchane.program.Operation;
import dev.torchane.program.Program;
import dev.torchane.program.Value;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code inspect BUNDLE}. */
@Command(
        name = "inspect",
        description = "Prints a bundle's functions, inputs, states, weights by encoding and operations.",
        mixinStandardHelpOptions = true)
final class InspectCommand implements Runnable {

    @Parameters(index = "0", paramLabel = "BUNDLE", description = "Directory of the bundle.")
    private Path path = Path.of("");

    @Option(
            names = "--ane",
            description = "Print what of the program the Neural Engine would not like, and nothing else.")
    private boolean ane;

    @Option(names = "--profile", description = "Rules for --ane: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private AneRules.Profile profile = AneRules.Profile.COREAI_ANE;

    @Override
    public void run() {
        try (Bundle bundle = Bundle.open(path)) {
            if (ane) {
                System.out.println(profile.id() + " rules (docs/ane-rules.md)");
                AneFindings.print(AneRules.check(bundle.program(), profile), System.out);
                return;
            }
            print(bundle.manifest(), bundle.program(), System.out);
            if (ChunkIndex.isIn(bundle)) {
                print(ChunkIndex.read(bundle), System.out);
            }
        }
    }

    private static void print(Manifest manifest, Program program, PrintStream out) {
        out.println(manifest.languageModel()
                        .map(each -> each.model().architecture())
                        .orElse(manifest.kind()) + ", target " + manifest.target() + ", from "
                + manifest.source().name());
        manifest.languageModel().ifPresent(each -> print(each.model(), out));
        out.println("  versions " + manifest.versions());
        out.println("  options " + manifest.options());
        out.println("  " + BuildReport.line(manifest));
        print(program, out);
        WeightTable.print(manifest.weights(), out);
        operations(program, out);
    }

    private static void print(ChunkIndex index, PrintStream out) {
        ChunkLimits limits = index.limits();
        out.printf(
                Locale.ROOT,
                "%nchunks (limits of each: %d MB, %d layers, %s operations); each is a bundle to inspect%n",
                limits.bytes() / 1_000_000,
                limits.layers(),
                limits.operations() == Integer.MAX_VALUE ? "any" : limits.operations());
        index.chunks().forEach(part -> print(part, "layers", out));
        index.heads().forEach(part -> print(part, "rows of the head", out));
    }

    private static void print(ChunkIndex.Part part, String unit, PrintStream out) {
        out.printf(
                Locale.ROOT,
                "  %-12s %s %d to %d, %.1f MB, %d operations%n",
                part.path(),
                unit,
                part.first(),
                part.first() + part.count() - 1,
                part.bytes() / 1e6,
                part.operations());
    }

    private static void print(Manifest.Model model, PrintStream out) {
        out.printf(
                Locale.ROOT,
                "  %d layers, hidden %d, %d heads (%d for keys and values) of %d, vocabulary %d, context %d%n",
                model.layers(),
                model.hidden(),
                model.heads(),
                model.kvHeads(),
                model.headDim(),
                model.vocab(),
                model.maxLen());
    }

    private static void print(Program program, PrintStream out) {
        out.println("\nfunctions");
        for (Function function : program.functions()) {
            out.println("  " + function.name() + ": " + function.operations().size() + " operations");
            for (Value input : function.tensors()) {
                out.println("    in    " + input);
            }
            for (Value state : function.states()) {
                out.println("    state " + state);
            }
            for (Value output : function.outputs()) {
                out.println("    out   " + output);
            }
        }
    }

    private static void operations(Program program, PrintStream out) {
        out.println("\noperations (all functions)");
        program.functions().stream()
                .flatMap(function -> function.operations().stream())
                .collect(Collectors.groupingBy(Operation::kind, Collectors.counting()))
                .entrySet()
                .stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(entry -> out.printf(Locale.ROOT, "  %-40s %7d%n", entry.getKey(), entry.getValue()));

        out.println("\ngroups (all functions)");
        program.functions().stream()
                .flatMap(function -> function.operations().stream()
                        .flatMap(operation -> operation.composite().stream())
                        .distinct())
                .collect(Collectors.groupingBy(
                        group -> group.substring(0, group.indexOf('#')), TreeMap::new, Collectors.counting()))
                .forEach((kind, count) -> out.printf(Locale.ROOT, "  %-40s %7d%n", kind, count));
    }
}
