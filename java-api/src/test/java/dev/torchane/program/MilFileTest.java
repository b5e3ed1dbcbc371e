package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.MilProgram;
import dev.torchane.TorchAneException;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MIL files with their weights, laid out as bundles. */
class MilFileTest {

    private static final String TEXT = """
            program(1.3)
            {
                func main<ios18>(tensor<fp32, [1, 3]> x) {
                    tensor<fp32, [2, 3]> w = const()[name = string("w"), val = tensor<fp32, [2, 3]>(BLOBFILE(path = string("@model_path/%s"), offset = uint64(64)))];
                    tensor<fp32, [1, 2]> y = linear(x = x, weight = w)[name = string("y")];
                } -> (y);
                func other<ios18>(tensor<fp32, [2, 3]> x) {
                    tensor<fp32, [2, 3]> w = const()[name = string("w"), val = tensor<fp32, [2, 3]>(BLOBFILE(path = string("@model_path/%s"), offset = uint64(64)))];
                    tensor<fp32, [2, 3]> y = add(x = x, y = w)[name = string("y")];
                } -> (y);
            }
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void aModelWhoseWeightsLieOneFolderUp() throws IOException {
        Files.createDirectories(folder.resolve("root/model"));
        Files.createDirectories(folder.resolve("root/weights"));
        for (Path file : new Path[] {folder.resolve("root/weights/0.bin"), folder.resolve("outside.bin")}) {
            try (WeightFileWriter writer = WeightFileWriter.create(file)) {
                writer.append(TensorType.of(DType.FP32, 2, 3), MemorySegment.ofArray(new float[] {1, 2, 3, 4, 5, 6}));
                writer.finish();
            }
        }
    }

    private Path text(String weights) throws IOException {
        return Files.writeString(folder.resolve("root/model/model.mil"), TEXT.formatted(weights, weights));
    }

    @Test
    void weightsOneFolderUpAreFoundBelowTheFolderGiven() throws IOException {
        MilFile file = MilFile.open(text("../weights/0.bin"), folder.resolve("root"));
        try (MilProgram program = MilProgram.of(file, "jvm", EngineOptions.defaults())) {
            Tensor x = Tensor.of(TensorType.of(DType.FP32, 1, 3), 1, 1, 1);
            assertArrayEquals(
                    new float[] {6, 15},
                    program.run("main", Map.of("x", x)).get("y").toFloats());
        }
    }

    @Test
    void aTextElsewhereFindsItsWeightsWithoutTheStepsUp() throws IOException {
        Path elsewhere =
                Files.writeString(folder.resolve("a.mil"), TEXT.formatted("../weights/0.bin", "weights/0.bin"));
        MilFile file = MilFile.open(elsewhere, folder.resolve("root"));
        assertEquals(
                folder.resolve("root/weights/0.bin").toRealPath(),
                file.weightFile("@model_path/../weights/0.bin").toRealPath());
    }

    @Test
    void oneBlobThatTwoFunctionsNameIsStoredOnce() throws IOException {
        Path bundle = Files.createDirectory(folder.resolve("bundle"));
        MilFile.open(text("../weights/0.bin"), folder.resolve("root")).writeBundle(bundle, "ane");
        try (Bundle opened = Bundle.open(bundle)) {
            assertEquals(1, opened.weights().blobs().size());
            assertEquals("ane", opened.manifest().target());
            assertEquals(1, opened.manifest().weights().size());
        }
    }

    @Test
    void pathsThatLeaveTheFolderAreRefused() throws IOException {
        Path text = text("../weights/0.bin");
        TorchAneException above = assertThrows(
                TorchAneException.class, () -> MilFile.open(text).weightFile("@model_path/../weights/0.bin"));
        assertTrue(above.getMessage().contains("--weights"), above.getMessage());
        MilFile below = MilFile.open(text, folder.resolve("root"));
        for (String path :
                new String[] {"@model_path/../../outside.bin", "/etc/passwd", "@model_path//etc/passwd", "\u0000"}) {
            assertThrows(TorchAneException.class, () -> below.weightFile(path), path);
        }
        Files.createSymbolicLink(folder.resolve("root/link.bin"), folder.resolve("outside.bin"));
        assertThrows(TorchAneException.class, () -> below.weightFile("@model_path/../link.bin"));
    }

    @Test
    void whatIsMissingOrOfAnotherTypeIsNamed() throws IOException {
        MilFile missing = MilFile.open(text("../weights/1.bin"), folder.resolve("root"));
        Path bundle = Files.createDirectory(folder.resolve("bundle"));
        TorchAneException e = assertThrows(TorchAneException.class, () -> missing.writeBundle(bundle, "cpu"));
        assertTrue(e.getMessage().contains("1.bin is missing"), e.getMessage());
        Path other = text("../weights/0.bin");
        Files.writeString(other, Files.readString(other).replace("uint64(64)", "uint64(128)"));
        MilFile wrong = MilFile.open(other, folder.resolve("root"));
        Path second = Files.createDirectory(folder.resolve("second"));
        TorchAneException at = assertThrows(TorchAneException.class, () -> wrong.writeBundle(second, "cpu"));
        assertTrue(at.getMessage().contains("offset 128"), at.getMessage());
    }
}
