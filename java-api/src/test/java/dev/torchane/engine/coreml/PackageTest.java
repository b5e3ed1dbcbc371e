package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.MilFile;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.program.WeightFile;
import dev.torchane.program.WeightFileWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a package, and what a package says about a program. */
class PackageTest {

    private static final float[] WEIGHT = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

    @TempDir
    Path folder;

    /** {@code y = silu(x · wᵀ + b)}. */
    private static Program perceptron(WeightFileWriter weights) {
        TensorType matrix = TensorType.of(DType.FP32, 5, 4);
        ProgramBuilder program = ProgramBuilder.create().buildInfo("producer", "a test");
        FunctionBuilder f = program.function("main");
        Value x = f.input("x", TensorType.of(DType.FP32, 1, 4));
        Value w = f.constant("w", BundleWriter.blob(matrix, weights.append(matrix, MemorySegment.ofArray(WEIGHT))));
        Value b = f.constant("b", new Literal.Numbers(TensorType.of(DType.FP32, 5), List.of(0.5, 1.5, 2.5, 3.5, 4.5)));
        f.done(f.silu("y", f.linear("product", x, w, b)));
        return program.build();
    }

    @Test
    void aManifestNamesTheModelAndItsWeights() throws IOException {
        Path written = Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron);
        JsonNode manifest =
                new ObjectMapper().readTree(written.resolve("Manifest.json").toFile());
        assertEquals("1.0.0", manifest.get("fileFormatVersion").asText());
        JsonNode items = manifest.get("itemInfoEntries");
        JsonNode model = items.get(manifest.get("rootModelIdentifier").asText());
        assertEquals("com.apple.CoreML/model.mlmodel", model.get("path").asText());
        assertEquals(2, items.size());
        items.forEach(item -> assertTrue(
                Files.exists(written.resolve("Data").resolve(item.get("path").asText()))));
    }

    @Test
    void theModelSaysWhatItTakesAndGives() {
        Path written = Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron);
        PackageReader model = PackageReader.model(written);
        assertEquals(9, model.integer(Schema.MODEL_SPECIFICATION_VERSION));
        PackageReader description = model.child(Schema.MODEL_DESCRIPTION);
        PackageReader x = description.child(Schema.DESCRIPTION_INPUT);
        assertEquals("x", x.text(Schema.FEATURE_NAME));
        PackageReader array = x.child(Schema.FEATURE_TYPE, Schema.FEATURE_MULTI_ARRAY);
        assertEquals(List.of(1L, 4L), array.integers(Schema.ARRAY_SHAPE));
        assertEquals(65568, array.integer(Schema.ARRAY_DATA_TYPE));
        assertEquals("y", description.child(Schema.DESCRIPTION_OUTPUT).text(Schema.FEATURE_NAME));
        assertEquals(List.of(), description.children(Schema.DESCRIPTION_STATE));
    }

    @Test
    void operationsNameTheirOperandsAndLargeConstantsTheirPlaceInTheWeightFile() {
        Path written = Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron);
        PackageReader block = PackageReader.model(written).block("main", CoreMlOpset.IOS18);
        assertEquals(List.of("const", "const", "linear", "silu"), block.kinds());
        assertEquals(List.of("y"), block.texts(Schema.BLOCK_OUTPUTS));
        PackageReader linear = block.operation("product");
        assertEquals(
                "w",
                linear.map(Schema.OPERATION_INPUTS)
                        .get("weight")
                        .child(Schema.ARGUMENT_BINDINGS)
                        .text(Schema.BINDING_NAME));
        PackageReader file =
                block.operation("w").map(Schema.OPERATION_ATTRIBUTES).get("val").child(Schema.VALUE_BLOB);
        assertEquals("@model_path/weights/weight.bin", file.text(Schema.BLOB_FILE_NAME));
        try (WeightFile weights = WeightFile.open(written.resolve("Data/com.apple.CoreML/weights/weight.bin"))) {
            WeightFile.Blob blob = weights.blob(file.integer(Schema.BLOB_OFFSET));
            assertEquals(64, file.integer(Schema.BLOB_OFFSET));
            assertEquals(DType.FP32, blob.dtype());
            assertArrayEquals(WEIGHT, blob.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
        }
    }

    @Test
    void equalProgramsAreEqualFiles() throws IOException {
        Path one = Packages.write(folder, "one", CoreMlOptions.defaults(), PackageTest::perceptron);
        Path two = Packages.write(folder, "two", CoreMlOptions.defaults(), PackageTest::perceptron);
        for (String file : List.of(
                "Manifest.json", "Data/com.apple.CoreML/model.mlmodel", "Data/com.apple.CoreML/weights/weight.bin")) {
            assertEquals(-1, Files.mismatch(one.resolve(file), two.resolve(file)), file);
        }
    }

    @Test
    void nothingIsLeftOfAPackageThatCannotBeWritten() throws IOException {
        assertThrows(
                TorchAneException.class,
                () -> Packages.write(
                        folder, "bad", CoreMlOptions.defaults().withFunctions(List.of("main", "main")), w -> {
                            throw new TorchAneException("no weights");
                        }));
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> Packages.write(folder, "wide", CoreMlOptions.defaults(), w -> {
                    ProgramBuilder program = ProgramBuilder.create();
                    FunctionBuilder f = program.function("main");
                    Value x = f.input("x", TensorType.of(DType.UINT4, 4));
                    f.done(f.unary("identity", "y", x));
                    return program.build();
                }));
        assertTrue(refused.getMessage().contains("'x' is tensor<uint4, [4]>"), refused.getMessage());
        try (Stream<Path> files = Files.list(folder)) {
            assertFalse(files.anyMatch(file -> file.toString().contains(".mlpackage") && Files.isDirectory(file)));
        }
    }

    @Test
    void aPackageIsNeverReplaced() {
        Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron);
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron));
        assertTrue(refused.getMessage().contains("exists"), refused.getMessage());
    }

    @Test
    void theEngineSaysThatPackagesAreWrittenAndNotRun() {
        Engine engine = Engine.named("coreml");
        assertFalse(engine.available());
        assertTrue(engine.unavailableReason().contains("export"), engine.unavailableReason());
    }

    @Test
    @Tag("full")
    void coremltoolsReadsWhatMilTextBecomes() throws IOException, InterruptedException {
        List<String> names = List.of("kv_update", "rms_norm", "swiglu");
        for (String name : names) {
            CoreMlPackage.write(
                    MilFile.open(Path.of("../samples/mil", name + ".mil")),
                    folder.resolve(name + CoreMlPackage.SUFFIX),
                    CoreMlOptions.defaults());
        }
        JsonNode read = CoreMlTools.read(folder);
        names.forEach(name -> assertFalse(read.get(name).has("error"), () -> name + ": " + read.get(name)));
    }

    @Test
    @Tag("full")
    void coremltoolsLoadsThePackage() throws IOException, InterruptedException {
        Packages.write(folder, "mlp", CoreMlOptions.defaults(), PackageTest::perceptron);
        JsonNode read = CoreMlTools.read(folder).get("mlp");
        assertFalse(read.has("error"), read.toString());
        assertEquals(
                "[[\"x\",\"fp32\",[1,4]]]", read.at("/functions/main/inputs").toString());
        assertEquals(
                "[[\"y\",\"fp32\",[1,5]]]", read.at("/functions/main/outputs").toString());
    }
}
