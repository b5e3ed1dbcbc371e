package dev.torchane.cli;

import dev.torchane.MilProgram;
import dev.torchane.TorchAneException;
import dev.torchane.build.Target;
import dev.torchane.cache.ModelCache;
import dev.torchane.engine.ComputeUnits;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.engine.coreml.CoreMlOptions;
import dev.torchane.engine.coreml.CoreMlPackage;
import dev.torchane.program.AneModelAttributes;
import dev.torchane.program.AneRules;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionCheck;
import dev.torchane.program.Literal;
import dev.torchane.program.MilFile;
import dev.torchane.program.MilSurvey;
import dev.torchane.program.Operation;
import dev.torchane.program.WeightFile;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code mil check|run|compile|attributes}. */
@Command(
        name = "mil",
        description = "Reads MIL text as Core ML writes it, or as written by hand: checks it, runs it, compiles it.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            MilCommand.Check.class,
            MilCommand.Run.class,
            MilCommand.Compile.class,
            MilCommand.Attributes.class
        })
final class MilCommand {

    private MilCommand() {}

    /** The text and its weights. */
    static final class Source {

        @Parameters(index = "0", paramLabel = "FILE", description = "The text, such as model.mil.")
        private Path file = Path.of("");

        @Option(
                names = "--weights",
                paramLabel = "DIR",
                description =
                        "Folder that holds the weights, for paths that go up from the text; default is the folder of"
                                + " the text.")
        private Path weights;

        MilFile open() {
            return weights == null ? MilFile.open(file) : MilFile.open(file, weights);
        }
    }

    /** {@code mil check FILE}. */
    @Command(
            name = "check",
            description = "Says what a file declares, whether it can run, and what the Neural Engine would not like.",
            mixinStandardHelpOptions = true)
    static final class Check implements java.util.concurrent.Callable<Integer> {

        @Mixin
        private Source source = new Source();

        @Option(names = "--profile", description = "Rules of ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
        private AneRules.Profile profile = AneRules.Profile.DIRECT_ANE;

        @Override
        public Integer call() {
            MilFile file = source.open();
            boolean runs = true;
            for (String name : file.document().functionNames()) {
                runs &= check(file, name, System.out);
            }
            return runs ? 0 : 1;
        }

        private boolean check(MilFile file, String name, PrintStream out) {
            MilSurvey survey = file.document().survey(name);
            out.println(name + "<" + survey.opset() + ">");
            survey.inputs().forEach(input -> out.println("  in   " + input));
            survey.shapes().defaults().forEach((input, shape) -> out.println("  default shape " + input + " " + shape));
            survey.shapes()
                    .enumerated()
                    .forEach((key, shapes) -> out.println("  enumerated shape " + key + " " + shapes));
            survey.shapes()
                    .ranges()
                    .forEach((input, ranges) -> out.println("  range of dimensions " + input + " " + ranges));
            survey.outputs().forEach(output -> out.println("  out  " + output));
            out.println("  operations " + survey.operations());
            survey.obstacles().forEach(obstacle -> out.println("  cannot run: " + obstacle.getMessage()));
            AneFindings.print(AneRules.check(survey, profile), out);
            if (survey.function().isEmpty()) {
                return false;
            }
            try {
                Function function = survey.function().get();
                FunctionCheck.verify(file.file().toString(), function);
                weights(file, function);
                out.println("  runs");
                return true;
            } catch (TorchAneException e) {
                out.println("  cannot run: " + e.getMessage());
                return false;
            }
        }

        private static void weights(MilFile file, Function function) {
            Map<String, WeightFile> opened = new LinkedHashMap<>();
            try {
                for (Operation operation : function.operations()) {
                    if (operation.constant().orElse(null) instanceof Literal.Blob blob) {
                        opened.computeIfAbsent(blob.path(), path -> WeightFile.open(file.weightFile(path)))
                                .data(blob.offset(), blob.type());
                    }
                }
            } finally {
                opened.values().forEach(WeightFile::close);
            }
        }
    }

    /** {@code mil run FILE}. */
    @Command(
            name = "run",
            description = "Runs functions of a file, with inputs that are given or random.",
            mixinStandardHelpOptions = true)
    static final class Run implements Runnable {

        @Mixin
        private Source source = new Source();

        @Option(
                names = {"-i", "--input"},
                paramLabel = "NAME=FILE.npy|FILE.npz|FILE.json",
                description = "Inputs; the others are random (integers are 0).")
        private List<String> inputs = List.of();

        @Option(names = "--function", description = "Function to call; default all, in their order.")
        private List<String> functions = List.of();

        @Option(names = "--seed", description = "Seed of random inputs; default ${DEFAULT-VALUE}.")
        private long seed;

        @Option(names = "--save", paramLabel = "FILE.npz", description = "Where outputs are saved.")
        private Path save;

        @Option(
                names = "--repeat",
                description = "Calls of each function; the fastest is told. Default ${DEFAULT-VALUE}.")
        private int repeat = 1;

        @Option(names = "--engine", description = "Engine; default ${DEFAULT-VALUE}.")
        private String engine = Engine.defaultName();

        @Option(names = "--units", description = "Hardware: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
        private ComputeUnits units = ComputeUnits.byDefault();

        @Option(
                names = "--declared",
                description =
                        "Round every result to the type the program declares, as fp16 hardware does (jvm engine).")
        private boolean declared;

        @Override
        public void run() {
            GivenTensors given = GivenTensors.of(inputs);
            EngineOptions options = EngineOptions.defaults()
                    .withUnits(units)
                    .withNumerics(declared ? Numerics.DECLARED : Numerics.FP32);
            Map<String, Tensor> saved = new LinkedHashMap<>();
            try (MilProgram program = MilProgram.of(source.open(), engine, options)) {
                List<String> called = functions.isEmpty() ? program.functions() : functions;
                given.requireUsed(called.stream().map(program::function).toList());
                for (String name : called) {
                    Map<String, Tensor> outputs = call(program, name, given);
                    outputs.forEach(
                            (output, tensor) -> saved.put(called.size() == 1 ? output : name + "." + output, tensor));
                }
            }
            if (save != null) {
                NumpyFile.write(save, saved);
            }
        }

        private Map<String, Tensor> call(MilProgram program, String name, GivenTensors given) {
            Map<String, Tensor> tensors = given.inputs(program.function(name), seed);
            Map<String, Tensor> outputs = Map.of();
            long fastest = Long.MAX_VALUE;
            for (int i = 0; i < Math.max(1, repeat); i++) {
                try (State state = program.newState(name)) {
                    long begin = System.nanoTime();
                    outputs = program.run(name, tensors, state);
                    fastest = Math.min(fastest, System.nanoTime() - begin);
                }
            }
            System.out.printf(Locale.ROOT, "%s: %.3f ms%n", name, fastest / 1e6);
            outputs.forEach((output, tensor) -> System.out.println("  " + output + " " + summary(tensor)));
            return outputs;
        }

        private static String summary(Tensor tensor) {
            float[] values = tensor.toFloats();
            double sum = 0;
            float least = Float.POSITIVE_INFINITY;
            float most = Float.NEGATIVE_INFINITY;
            int odd = 0;
            for (float value : values) {
                sum += value;
                least = Math.min(least, value);
                most = Math.max(most, value);
                odd += Float.isFinite(value) ? 0 : 1;
            }
            return String.format(
                    Locale.ROOT,
                    "%s: mean %.6g, least %.6g, most %.6g, not finite %d, first %s",
                    tensor.type(),
                    values.length == 0 ? 0 : sum / values.length,
                    least,
                    most,
                    odd,
                    Arrays.toString(Arrays.copyOf(values, Math.min(6, values.length))));
        }
    }

    /** {@code mil compile FILE -o OUTPUT}. */
    @Command(
            name = "compile",
            description = "Builds a bundle, with every weight in one file, or a Core ML package.",
            mixinStandardHelpOptions = true)
    static final class Compile implements Runnable {

        @Mixin
        private Source source = new Source();

        @Option(
                names = {"-o", "--output"},
                required = true,
                paramLabel = "BUNDLE|FILE.mlpackage",
                description = "Directory to make; it must not exist.")
        private Path output = Path.of("");

        @Option(names = "--target", description = "What it is for: ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
        private Target target = Target.CPU;

        @Override
        public void run() {
            if (Files.exists(output)) {
                throw new TorchAneException(output + " exists: choose another name, or remove it first");
            }
            MilFile file = source.open();
            if (output.toString().endsWith(CoreMlPackage.SUFFIX)) {
                CoreMlPackage.write(file, output, CoreMlOptions.defaults());
                System.out.println(output);
                return;
            }
            ModelCache.install(output, directory -> file.writeBundle(directory, target.id()));
            if (target == Target.ANE) {
                AneFindings.print(AneRules.check(file.program(), AneRules.Profile.COREAI_ANE), System.out);
            }
            System.out.println(output);
        }
    }

    /** {@code mil attributes FILE}. */
    @Command(
            name = "attributes",
            description =
                    "Lists the functions and buffers in the modelAttributes of a loaded Neural Engine model, as macOS"
                            + " prints them or as a property list.",
            mixinStandardHelpOptions = true)
    static final class Attributes implements Runnable {

        @Parameters(index = "0", paramLabel = "FILE", description = "Text that contains the attributes.")
        private Path file = Path.of("");

        @Override
        public void run() {
            try {
                for (AneModelAttributes.Procedure procedure :
                        AneModelAttributes.parse(Files.readString(file)).procedures()) {
                    System.out.println(procedure.id() + " " + procedure.name());
                    procedure.inputs().forEach(buffer -> System.out.println("  in   " + line(buffer)));
                    procedure.outputs().forEach(buffer -> System.out.println("  out  " + line(buffer)));
                }
            } catch (IOException e) {
                throw new TorchAneException("cannot read " + file + ": " + e, e);
            }
        }

        private static String line(AneModelAttributes.Buffer buffer) {
            return buffer.symbol() + " " + buffer.name() + " "
                    + Optional.of(buffer.layout())
                            .filter(each -> !each.isEmpty())
                            .map(Object::toString)
                            .orElse("");
        }
    }
}
