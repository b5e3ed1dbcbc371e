package dev.torchane.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Inputs and outputs of {@code mil run} in files. */
class GivenTensorsTest {

    private static final TensorType PAIRS = TensorType.of(DType.FP16, 2, 2);

    @TempDir
    private Path folder;

    private static Function function() {
        Value x = new Value("x", PAIRS);
        return new Function(
                "main", "ios18", List.of(x, new Value("n", TensorType.of(DType.INT32, 1))), List.of(), List.of(x));
    }

    @ParameterizedTest
    @EnumSource(names = {"FP32", "FP16", "INT32", "INT16", "UINT16", "INT8", "UINT8", "BOOL"})
    void tensorsComeBackFromTheFilesTheyAreSavedIn(DType dtype) {
        Tensor matrix = Tensor.of(TensorType.of(DType.FP32, 2, 3), 0, 1, 1, 0, 1, 0);
        Tensor tensor = Tensor.allocate(TensorType.of(dtype, 2, 3));
        for (int i = 0; i < 6; i++) {
            tensor.set(i, matrix.get(i));
        }
        Path file = folder.resolve("a.npz");
        NumpyFile.write(file, Map.of("y", tensor, "scalar", Tensor.of(TensorType.of(DType.FP32), 7)));
        Map<String, Tensor> read = NumpyFile.readAll(file);
        assertEquals(tensor.type(), read.get("y").type());
        assertArrayEquals(tensor.toFloats(), read.get("y").toFloats());
        assertEquals(7, read.get("scalar").get(0));
    }

    @Test
    void listsOfJsonAreConvertedToTheTypeOfTheInput() throws IOException {
        Path file = Files.writeString(folder.resolve("in.json"), "{\"x\": [[1, 2.5], [-3, 0]]}");
        Map<String, Tensor> inputs = GivenTensors.of(List.of(file.toString())).inputs(function(), 0);
        assertEquals(PAIRS, inputs.get("x").type());
        assertArrayEquals(new float[] {1, 2.5f, -3, 0}, inputs.get("x").toFloats());
        assertEquals(0, inputs.get("n").get(0));
    }

    @Test
    void theSameSeedGivesTheSameRandomInputs() {
        GivenTensors none = GivenTensors.of(List.of());
        float[] first = none.inputs(function(), 5).get("x").toFloats();
        assertArrayEquals(first, none.inputs(function(), 5).get("x").toFloats());
        assertTrue(first[0] != none.inputs(function(), 6).get("x").get(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"x\": [[1, 2], [3]]}", "{\"x\": [[1, \"a\"], [3, 4]]}", "[1]", "{\"x\": [1, 2, 3]}", "{"})
    void whatDoesNotFitIsRefused(String json) throws IOException {
        Path file = Files.writeString(folder.resolve("in.json"), json);
        assertThrows(
                TorchAneException.class,
                () -> GivenTensors.of(List.of(file.toString())).inputs(function(), 0));
    }

    @Test
    void namesOfNoInputAndOtherFilesAreRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("in.json"), "{\"z\": [1]}");
        GivenTensors given = GivenTensors.of(List.of(file.toString()));
        TorchAneException e = assertThrows(TorchAneException.class, () -> given.requireUsed(List.of(function())));
        assertTrue(e.getMessage().contains("no function has an input 'z'"), e.getMessage());
        assertThrows(TorchAneException.class, () -> GivenTensors.of(List.of("x.bin")));
    }

    @Test
    void damagedFilesOfNumpyAreRefused() throws IOException {
        Path file = folder.resolve("a.npz");
        NumpyFile.write(file, Map.of("y", Tensor.of(PAIRS, 1, 2, 3, 4)));
        byte[] npy;
        try (java.util.zip.ZipInputStream zip = new java.util.zip.ZipInputStream(Files.newInputStream(file))) {
            zip.getNextEntry();
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            zip.transferTo(bytes);
            npy = bytes.toByteArray();
        }
        assertEquals(PAIRS, NumpyFile.tensor("whole", npy).type());
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            byte[] mutated = java.util.Arrays.copyOf(npy, i % 3 == 0 ? random.nextInt(npy.length) : npy.length);
            if (mutated.length > 0) {
                mutated[random.nextInt(Math.min(80, mutated.length))] = (byte) random.nextInt(256);
            }
            try {
                NumpyFile.tensor("mutant", mutated);
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().startsWith("mutant"), expected.getMessage());
            }
        }
        String huge = new String(npy, StandardCharsets.ISO_8859_1).replace("(2, 2,)", "(99999999999,)");
        assertThrows(
                TorchAneException.class, () -> NumpyFile.tensor("huge", huge.getBytes(StandardCharsets.ISO_8859_1)));
    }
}
