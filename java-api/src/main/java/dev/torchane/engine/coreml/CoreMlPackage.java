package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.cache.ModelCache;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.WeightFile;
import dev.torchane.program.WeightFileWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Writes Core ML packages ({@code .mlpackage}).
 *
 * <pre>
 * Manifest.json
 * Data/com.apple.CoreML/model.mlmodel            the model: a program and what its functions take and give
 * Data/com.apple.CoreML/weights/weight.bin       MIL blob storage v2
 * </pre>
 *
 * <p>A package is written into a temporary sibling and renamed: it is whole or it is absent.
 */
public final class CoreMlPackage {

    /** Ending of a package's name. */
    public static final String SUFFIX = ".mlpackage";

    private static final String AUTHOR = "com.apple.CoreML";

    private CoreMlPackage() {}

    /**
     * Writes a bundle's program.
     *
     * @param target the package to make; it must not exist, and its name ends with {@link #SUFFIX}
     * @throws TorchAneException when the package exists or cannot be written, or the program holds something that Core ML
     *     does not have; names function and operation
     */
    public static void write(Bundle bundle, Path target, CoreMlOptions options) {
        Map<String, String> about = new LinkedHashMap<>();
        about.put("dev.torchane.kind", bundle.manifest().kind());
        about.put("dev.torchane.target", bundle.manifest().target());
        List<String> names = options.functions().isEmpty() ? bundle.functionNames() : options.functions();
        Program program = new Program(
                ProgramBuilder.VERSION,
                Map.of(),
                names.stream().map(bundle::function).toList());
        write(program, bundle::data, about, target, options);
    }

    /**
     * Writes the program of a file of MIL text.
     *
     * @param target the package to make; it must not exist, and its name ends with {@link #SUFFIX}
     * @throws TorchAneException as {@link #write(Bundle, Path, CoreMlOptions)}, and when the text cannot run
     */
    public static void write(MilFile file, Path target, CoreMlOptions options) {
        Program whole = file.program();
        List<Function> functions = options.functions().isEmpty()
                ? whole.functions()
                : options.functions().stream().map(whole::function).toList();
        Map<String, WeightFile> opened = new HashMap<>();
        try {
            write(
                    new Program(whole.version(), whole.buildInfo(), functions),
                    blob -> opened.computeIfAbsent(blob.path(), path -> WeightFile.open(file.weightFile(path)))
                            .data(blob.offset(), blob.type()),
                    Map.of(),
                    target,
                    options);
        } finally {
            opened.values().forEach(WeightFile::close);
        }
    }

    /**
     * Writes a program.
     *
     * @param blobs answers the bytes of the program's constants in weight files
     * @param metadata told about the model
     */
    static void write(
            Program program,
            java.util.function.Function<Literal.Blob, MemorySegment> blobs,
            Map<String, String> metadata,
            Path target,
            CoreMlOptions options) {
        if (!target.getFileName().toString().endsWith(SUFFIX)) {
            throw new TorchAneException("a Core ML package is called …" + SUFFIX + ", found " + target);
        }
        if (Files.exists(target)) {
            throw new TorchAneException(target + " exists: choose another name, or remove it first");
        }
        Conversion.requireFits(program, options);
        ModelCache.install(target, directory -> fill(directory, program, blobs, metadata, options));
    }

    private static void fill(
            Path directory,
            Program program,
            java.util.function.Function<Literal.Blob, MemorySegment> blobs,
            Map<String, String> metadata,
            CoreMlOptions options) {
        Path data = directory.resolve("Data").resolve(AUTHOR);
        Path file = data.resolve("weights/weight.bin");
        try {
            Files.createDirectories(file.getParent());
            try (WeightFileWriter writer = WeightFileWriter.create(file)) {
                PackageWeights weights = new PackageWeights(blobs, writer);
                List<Function> functions = new ArrayList<>();
                for (Function function : program.functions()) {
                    functions.add(Conversion.of(function, weights, options));
                }
                Program converted =
                        new Program(program.version(), program.buildInfo(), Conversion.named(functions, options));
                Files.write(
                        data.resolve("model.mlmodel"),
                        ModelMessages.model(converted, options.opset(), metadata)
                                .toBytes());
                writer.finish();
            }
            Files.writeString(directory.resolve("Manifest.json"), manifest());
        } catch (IOException e) {
            throw new TorchAneException("cannot write the package in " + directory + ": " + e.getMessage(), e);
        }
    }

    private static String manifest() {
        String model = identifier("model.mlmodel");
        String entry = """
                    "%s": {
                        "author": "%s",
                        "description": "%s",
                        "name": "%s",
                        "path": "%s/%s"
                    }""";
        return """
                {
                    "fileFormatVersion": "1.0.0",
                    "itemInfoEntries": {
                %s,
                %s
                    },
                    "rootModelIdentifier": "%s"
                }
                """.formatted(
                entry.formatted(identifier("weights"), AUTHOR, "CoreML Model Weights", "weights", AUTHOR, "weights"),
                entry.formatted(model, AUTHOR, "CoreML Model Specification", "model.mlmodel", AUTHOR, "model.mlmodel"),
                model);
    }

    /** The same for every package, so that equal models are equal files. */
    private static String identifier(String item) {
        return UUID.nameUUIDFromBytes(("dev.torchane/" + item).getBytes(StandardCharsets.UTF_8))
                .toString();
    }
}
