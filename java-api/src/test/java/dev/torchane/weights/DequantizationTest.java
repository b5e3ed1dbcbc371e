package dev.torchane.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Values of stored blocks are, bit for bit, those of ggml's reference formulas. */
class DequantizationTest {

    private static final Map<String, List<Integer>> HALVES = Map.ofEntries(
            Map.entry("F16", List.of(0)),
            Map.entry("BF16", List.of(0)),
            Map.entry("Q4_0", List.of(0)),
            Map.entry("Q4_1", List.of(0, 2)),
            Map.entry("Q5_0", List.of(0)),
            Map.entry("Q5_1", List.of(0, 2)),
            Map.entry("Q8_0", List.of(0)),
            Map.entry("Q2_K", List.of(80, 82)),
            Map.entry("Q3_K", List.of(108)),
            Map.entry("Q4_K", List.of(0, 2)),
            Map.entry("Q5_K", List.of(0, 2)),
            Map.entry("Q6_K", List.of(208)));

    @ParameterizedTest
    @MethodSource("golden")
    void matchesTheReferenceBitForBit(String line) throws Exception {
        String[] words = line.split(" ");
        WeightType type = WeightType.valueOf(words[0]);
        int blocks = Integer.parseInt(words[1]);
        int elements = blocks * type.blockElements();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = MemorySegment.ofArray(blockBytes(type, blocks));
            MemorySegment target = arena.allocate(elements * 4L);
            WeightTensor tensor = new WeightTensor("t", type, List.of(1L, (long) elements), source, RowOrder.FILE, 0);
            tensor.dequantize(target);
            for (int i = 0; i < 4; i++) {
                assertEquals(
                        Double.parseDouble(words[3 + i]), target.getAtIndex(ValueLayout.JAVA_FLOAT, i), "value " + i);
            }
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(target.toArray(ValueLayout.JAVA_BYTE));
            assertEquals(words[2], HexFormat.of().formatHex(digest));
        }
    }

    @Test
    void rowsCanBeReadOneByOne() {
        byte[] bytes = blockBytes(WeightType.Q4_1, 6);
        WeightTensor tensor = new WeightTensor(
                "t", WeightType.Q4_1, List.of(3L, 64L), MemorySegment.ofArray(bytes), RowOrder.FILE, 0);
        MemorySegment whole = MemorySegment.ofArray(new float[3 * 64]);
        tensor.dequantize(whole);
        MemorySegment row = MemorySegment.ofArray(new float[64]);
        for (int i = 0; i < 3; i++) {
            tensor.dequantize(i, 1, row);
            assertEquals(-1, whole.asSlice(i * 64L * 4, 64 * 4).mismatch(row), "row " + i);
        }
        assertEquals(40, tensor.rowBytes());
        assertEquals(-1, tensor.row(2).mismatch(MemorySegment.ofArray(bytes).asSlice(80)));
    }

    @Test
    void pairedRowsComeBackInTheModelsOrder() {
        float[] stored = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
        WeightTensor tensor = new WeightTensor(
                "q", WeightType.F32, List.of(16L, 1L), MemorySegment.ofArray(stored), new RowOrder(8), 0);
        float[] values = new float[16];
        tensor.dequantize(MemorySegment.ofArray(values));
        assertArrayEquals(new float[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, values);
    }

    @Test
    void rowsOutsideTheTensorAndSmallTargetsAreRefused() {
        WeightTensor tensor = new WeightTensor(
                "t", WeightType.F32, List.of(2L, 2L), MemorySegment.ofArray(new float[4]), RowOrder.FILE, 0);
        MemorySegment target = MemorySegment.ofArray(new float[3]);
        assertThrows(IndexOutOfBoundsException.class, () -> tensor.dequantize(1, 2, target));
        assertThrows(IndexOutOfBoundsException.class, () -> tensor.dequantize(Long.MAX_VALUE, 2, target));
        assertThrows(IllegalArgumentException.class, () -> tensor.dequantize(target));
    }

    private static byte[] blockBytes(WeightType type, int blocks) {
        int size = type.blockBytes();
        byte[] bytes = new byte[blocks * size];
        int state = 1;
        for (int block = 0; block < blocks; block++) {
            for (int i = 0; i < size; i++) {
                state = state * 1103515245 + 12345 & 0x7FFFFFFF;
                bytes[block * size + i] = (byte) (state >> 16);
            }
            for (int half : HALVES.get(type.label())) {
                bytes[block * size + half + 1] &= (byte) 0xBF;
            }
        }
        return bytes;
    }

    private static Stream<String> golden() throws IOException {
        try (InputStream in = DequantizationTest.class.getResourceAsStream("dequantize_golden.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines();
        }
    }
}
