package dev.torchane.cli;

import dev.torchane.CompiledModule;
import dev.torchane.TorchAne;
import dev.torchane.TorchAneException;
import dev.torchane.build.ModuleInputs;
import dev.torchane.build.ModuleSource;
import dev.torchane.cache.ModelCache;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code compile SOURCE -i NAME:TYPE[SHAPE]…}. */
@Command(
        name = "compile",
        description = "Compiles any module into a program, and compares it with torch.",
        mixinStandardHelpOptions = true)
final class CompileCommand implements Runnable {

    private static final Pattern INPUT = Pattern.compile("(\\w+):(fp32|fp16|int32|bool)\\[([\\d, ]*)]");

    @Parameters(
            index = "0",
            paramLabel = "SOURCE",
            description = "package.module:callable of --folder (its code runs), a .pt2 file of torch.export.save, or a"
                    + " directory of save_pretrained with --class.")
    private String source = "";

    @Option(
            names = {"-i", "--input"},
            required = true,
            paramLabel = "NAME:TYPE[SHAPE]",
            description =
                    "An input such as image:fp32[1,3,224,224]; types are fp32, fp16, int32, bool. A name that is given"
                            + " again begins the inputs of another function, over the same weights.")
    private List<String> inputs = List.of();

    @Option(names = "--folder", description = "Where the package of a callable lies; default is this directory.")
    private Path folder = Path.of("");

    @Option(
            names = {"-a", "--argument"},
            paramLabel = "NAME=VALUE",
            description =
                    "Keyword argument of the callable, or of the method of a --class: a number, true, false or a text.")
    private Map<String, String> arguments = new TreeMap<>();

    @Option(names = "--state-dict", description = "Weights that a callable's module loads: .safetensors, .bin or .pt.")
    private Path stateDict;

    @Option(
            names = "--class",
            paramLabel = "LIBRARY.CLASS",
            description = "Class of the directory, such as transformers.BertModel or diffusers.UNet2DConditionModel.")
    private String className = "";

    @Option(names = "--method", description = "Method that is compiled; default ${DEFAULT-VALUE}.")
    private String method = "forward";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "BUNDLE",
            description = "Directory to make; it must not exist. Without it the bundle stays in the cache.")
    private Path output;

    @Option(names = "--no-validate", description = "Do not compare with torch.")
    private boolean noValidate;

    @Mixin
    private CompileFlags flags = new CompileFlags();

    @Override
    public void run() {
        if (output != null && Files.exists(output)) {
            throw new TorchAneException(output + " exists: choose another name, or remove it first");
        }
        try (ConsoleProgress progress = new ConsoleProgress(System.err);
                CompiledModule module = TorchAne.compile(source(), shapes(inputs), flags.options(progress))) {
            module.inputs().forEach((name, type) -> System.out.println("in   " + name + " " + type));
            module.outputs().forEach((name, type) -> System.out.println("out  " + name + " " + type));
            if (!noValidate) {
                System.out.println(module.validate());
            }
            if (output != null) {
                ModelCache.install(output, directory -> BuildCommand.copy(module.bundle(), directory));
            }
            System.out.println(output == null ? module.bundle() : output);
        }
    }

    private ModuleSource source() {
        if (source.endsWith(".pt2")) {
            return ModuleSource.exported(Path.of(source));
        }
        if (!className.isEmpty()) {
            int dot = className.indexOf('.');
            return new ModuleSource.Pretrained(
                    className.substring(0, Math.max(0, dot)),
                    className.substring(dot + 1),
                    Path.of(source),
                    method,
                    values(arguments));
        }
        if (!source.contains(":")) {
            throw new TorchAneException(
                    "'" + source + "' is neither package.module:callable nor a .pt2 file; a directory needs --class");
        }
        ModuleSource.Factory factory = ModuleSource.factory(folder, source)
                .withArguments(values(arguments))
                .withMethod(method);
        return stateDict == null ? factory : factory.withWeights(stateDict);
    }

    /** Inputs of each function: a name that is given again begins the next. */
    static List<ModuleInputs> shapes(List<String> inputs) {
        List<ModuleInputs> functions = new ArrayList<>();
        Map<String, TensorType> current = new LinkedHashMap<>();
        for (String input : inputs) {
            Matcher parts = INPUT.matcher(input);
            if (!parts.matches()) {
                throw new TorchAneException(
                        "an input is written as name:type[sizes], such as image:fp32[1,3,224,224], not '" + input
                                + "'");
            }
            if (current.containsKey(parts.group(1))) {
                functions.add(new ModuleInputs(current));
                current = new LinkedHashMap<>();
            }
            List<Integer> shape = Pattern.compile("\\d+")
                    .matcher(parts.group(3))
                    .results()
                    .map(size -> Integer.valueOf(size.group()))
                    .toList();
            current.put(parts.group(1), new TensorType(DType.ofMil(parts.group(2)), shape));
        }
        functions.add(new ModuleInputs(current));
        return functions;
    }

    /** Numbers and truth values as such, everything else as a text. */
    static Map<String, Object> values(Map<String, String> arguments) {
        Map<String, Object> values = new TreeMap<>();
        arguments.forEach((name, text) -> values.put(
                name,
                text.matches("true|false")
                        ? (Object) Boolean.valueOf(text)
                        : text.matches("-?\\d{1,18}")
                                ? (Object) Long.valueOf(text)
                                : text.matches("-?\\d*\\.\\d+([eE]-?\\d+)?") ? (Object) Double.valueOf(text) : text));
        return values;
    }
}
