package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

class WeightEncoderTest {

    private final Arena arena = Arena.ofAuto();

    @Test
    void int8HasOneScaleForEachRowAndUsesItsWholeRange() {
        EncodedWeight encoded = encode(WeightEncoding.INT8, DType.FP32, 2, 3, 127f, -63.5f, 1f, 0f, 0f, 0f);

        assertArrayEquals(new byte[] {127, -64, 1, 0, 0, 0}, encoded.data().toArray(ValueLayout.JAVA_BYTE));
        assertArrayEquals(new float[] {1f, 0f}, floats(table(encoded).data()));
        assertEquals(0.5, encoded.error().largest());
        assertEquals(Math.sqrt(0.25 / 6), encoded.error().rms(6));
    }

    @Test
    void int8RoundsHalvesToEven() {
        EncodedWeight encoded = encode(WeightEncoding.INT8, DType.FP32, 1, 5, 127f, 0.5f, 1.5f, 2.5f, -0.5f);

        assertArrayEquals(new byte[] {127, 0, 2, 2, 0}, encoded.data().toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void int8ErrsByAtMostHalfAStep() {
        float[] values = random(64 * 48);
        EncodedWeight encoded = encode(WeightEncoding.INT8, DType.FP32, 64, 48, values);

        float[] scales = floats(table(encoded).data());
        double worst = 0;
        for (int i = 0; i < values.length; i++) {
            float scale = scales[i / 48];
            double error = Math.abs(values[i] - encoded.data().get(ValueLayout.JAVA_BYTE, i) * (double) scale);
            assertTrue(error <= scale * 0.5001, "element " + i + " errs by " + error);
            worst = Math.max(worst, error);
        }
        assertEquals(worst, encoded.error().largest());
    }

    @Test
    void int8QuantisesWithTheScaleAsItIsStored() {
        float[] values = random(32);
        EncodedWeight encoded = encode(WeightEncoding.INT8, DType.FP16, 1, 32, values);

        float scale = Float.float16ToFloat(table(encoded).data().get(ValueLayout.JAVA_SHORT, 0));
        for (int i = 0; i < 32; i++) {
            assertEquals(
                    (byte) Math.clamp((int) Math.rint(values[i] / scale), -127, 127),
                    encoded.data().get(ValueLayout.JAVA_BYTE, i));
        }
    }

    @Test
    void int4HasOneScaleForEachBlockOf32Inputs() {
        float[] values = new float[2 * 64];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i % 15 - 7) * (1 + i / 32); // four blocks, each with a step of its own
        }
        EncodedWeight encoded = encode(WeightEncoding.INT4, DType.FP32, 2, 64, values);

        assertEquals(DType.INT4, encoded.dtype());
        assertEquals(2, table(encoded).columnBlocks());
        assertArrayEquals(new float[] {1, 2, 3, 4}, floats(table(encoded).data()));
        assertEquals(0, encoded.error().largest());
        byte[] data = encoded.data().toArray(ValueLayout.JAVA_BYTE);
        assertEquals(64, data.length);
        for (int i = 0; i < values.length; i++) {
            int nibble = data[i / 2] << (i % 2 == 0 ? 28 : 24) >> 28;
            assertEquals(i % 15 - 7, nibble, "element " + i);
        }
    }

    @Test
    void int4CutsOffExtremesWhereThatHelpsTheRest() {
        float[] values = random(256 * 64);
        EncodedWeight encoded = encode(WeightEncoding.INT4, DType.FP32, 256, 64, values);

        double plain = 0;
        for (int block = 0; block < values.length; block += 32) {
            float largest = 0;
            for (int i = block; i < block + 32; i++) {
                largest = Math.max(largest, Math.abs(values[i]));
            }
            for (int i = block; i < block + 32; i++) {
                double step = largest / 7;
                plain += Math.pow(values[i] - Math.rint(values[i] / step) * step, 2);
            }
        }
        assertTrue(encoded.error().squares() < 0.95 * plain, encoded.error().squares() + " against " + plain);
    }

    @Test
    void blocksAreMadeSmallerToDivideTheInputs() {
        assertEquals(
                18,
                36
                        / table(encode(WeightEncoding.INT4, DType.FP32, 4, 36, random(4 * 36)))
                                .columnBlocks());
        assertEquals(
                24,
                48
                        / table(encode(WeightEncoding.INT4, DType.FP32, 4, 48, random(4 * 48)))
                                .columnBlocks());
    }

    @Test
    void inputsWithoutABlockSizeFallBackToInt8() {
        EncodedWeight encoded = encode(WeightEncoding.INT4, DType.FP32, 4, 37, random(4 * 37));

        assertEquals(WeightEncoding.INT8, encoded.encoding());
        assertEquals(DType.INT8, encoded.dtype());
    }

    @Test
    void aPaletteHoldsUpToSixteenDifferentValuesExactly() {
        float[] values = new float[16 * 5];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i < 40 ? 1 : -3) * (i * 7 % 16);
        }
        EncodedWeight encoded = encode(WeightEncoding.LUT4, DType.FP32, 16, 5, values);

        assertEquals(DType.UINT4, encoded.dtype());
        assertEquals(new Shape(2, 1, 16), shape(encoded));
        assertEquals(0, encoded.error().largest());
        assertArrayEquals(values, decoded(encoded, 16, 5));
    }

    @Test
    void everyWeightTakesTheNearestEntryOfItsGroup() {
        for (WeightEncoding encoding :
                new WeightEncoding[] {WeightEncoding.LUT4, WeightEncoding.LUT4G32, WeightEncoding.LUT6}) {
            for (DType type : new DType[] {DType.FP32, DType.FP16}) {
                float[] values = random(64 * 37);
                EncodedWeight encoded = encode(encoding, type, 64, 37, values);
                float[] decoded = decoded(encoded, 64, 37);
                double squares = 0;
                for (int i = 0; i < values.length; i++) {
                    float nearest = Float.POSITIVE_INFINITY;
                    for (float entry :
                            palette(encoded, i / 37 / (64 / table(encoded).rowBlocks()))) {
                        nearest = Math.min(nearest, Math.abs(entry - values[i]));
                    }
                    assertEquals(nearest, Math.abs(decoded[i] - values[i]), 1e-9, encoding + " element " + i);
                    squares += Math.pow((double) decoded[i] - values[i], 2);
                }
                assertEquals(squares, encoded.error().squares(), 1e-9);
            }
        }
    }

    @Test
    void aPaletteIsCloseToTheBestThereIs() {
        // Max (1960): 16 levels for a normal distribution leave 0.009497 of its variance, 64 levels 0.0006442.
        float[] values = random(32 * 1024);
        double variance = 0;
        for (float value : values) {
            variance += value * (double) value;
        }
        double four = encode(WeightEncoding.LUT4G32, DType.FP32, 32, 1024, values)
                        .error()
                        .squares()
                / variance;
        double six = encode(WeightEncoding.LUT6, DType.FP32, 32, 1024, values)
                        .error()
                        .squares()
                / variance;

        assertEquals(0.009497, four, 0.0003);
        assertTrue(six < 0.00066, "64 entries leave " + six);
    }

    @Test
    void anOutlierHasAnEntryOfItsOwn() {
        float[] values = random(8 * 576);
        values[100] = 40f;
        float[] decoded = decoded(encode(WeightEncoding.LUT4, DType.FP32, 8, 576, values), 8, 576);

        assertEquals(40f, decoded[100]);
        assertTrue(Math.abs(values[7] - decoded[7]) < 0.05);
    }

    @Test
    void groupsAreMadeSmallerToDivideTheRows() {
        assertEquals(new Shape(2, 1, 16), shape(encode(WeightEncoding.LUT4G32, DType.FP32, 36, 4, random(36 * 4))));
        assertEquals(new Shape(6, 1, 16), shape(encode(WeightEncoding.LUT4, DType.FP32, 36, 4, random(36 * 4))));
        assertEquals(new Shape(13, 1, 64), shape(encode(WeightEncoding.LUT6, DType.FP32, 13, 3, random(13 * 3))));
    }

    @Test
    void sixBitIndicesArePackedDensely() {
        float[] values = random(13 * 7);
        EncodedWeight encoded = encode(WeightEncoding.LUT6, DType.FP32, 13, 7, values);

        assertEquals((13 * 7 * 6 + 7) / 8, encoded.data().byteSize());
        assertArrayEquals(values, decoded(encoded, 13, 7), 0f);
    }

    @Test
    void theBytesDoNotDependOnTheNumberOfThreads() throws Exception {
        float[] values = random(96 * 352);
        for (WeightEncoding encoding : WeightEncoding.values()) {
            EncodedWeight many = encode(encoding, DType.FP16, 96, 352, values);
            try (ForkJoinPool one = new ForkJoinPool(1)) {
                EncodedWeight single = one.submit(() -> encode(encoding, DType.FP16, 96, 352, values))
                        .get();
                assertEquals(-1, many.data().mismatch(single.data()), encoding.id());
                assertEquals(many.error(), single.error());
                assertTrue(many.table().isEmpty()
                        || table(many).data().mismatch(table(single).data()) == -1);
            }
        }
    }

    @Test
    void fp16RoundsAndTellsItsError() {
        EncodedWeight encoded = encode(WeightEncoding.FP16, DType.FP32, 1, 2, 1f, 0.1f);

        assertEquals(Float.floatToFloat16(0.1f), encoded.data().getAtIndex(ValueLayout.JAVA_SHORT, 1));
        assertEquals(
                Math.abs(0.1f - Float.float16ToFloat(Float.floatToFloat16(0.1f))),
                encoded.error().largest(),
                1e-12);
    }

    @Test
    void fp16RefusesWhatItCannotHold() {
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> encode(WeightEncoding.FP16, DType.FP32, 1, 2, 1f, 70000f));
        assertTrue(e.getMessage().contains("'w' holds 70000.0"), e.getMessage());

        e = assertThrows(TorchAneException.class, () -> encode(WeightEncoding.LUT4, DType.FP16, 1, 2, 1f, 70000f));
        assertTrue(e.getMessage().contains("'w' holds 70000.0"), e.getMessage());
    }

    @Test
    void damagedValuesAreRefusedByPlace() {
        for (WeightEncoding encoding : WeightEncoding.values()) {
            float[] values = new float[2 * 32];
            values[33] = Float.NaN;
            TorchAneException e =
                    assertThrows(TorchAneException.class, () -> encode(encoding, DType.FP32, 2, 32, values));
            assertTrue(e.getMessage().contains("'w' holds NaN at [1, 1]"), e.getMessage());
        }
    }

    @Test
    void bf16AndFp16SourcesAreRead() {
        MemorySegment halves = arena.allocate(4);
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToIntBits(1.5f) >>> 16));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 1, (short) (Float.floatToIntBits(-2f) >>> 16));
        assertArrayEquals(new float[] {1.5f, -2f}, new WeightRows("w", halves, DType.BF16, 1, 2).row(0));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16(0.25f));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 1, Float.floatToFloat16(3f));
        assertArrayEquals(new float[] {0.25f, 3f}, new WeightRows("w", halves, DType.FP16, 1, 2).row(0));
    }

    private record Shape(int rowBlocks, int columnBlocks, int entries) {}

    private static Shape shape(EncodedWeight encoded) {
        EncodedWeight.Table table = table(encoded);
        return new Shape(table.rowBlocks(), table.columnBlocks(), table.entries());
    }

    private static EncodedWeight.Table table(EncodedWeight encoded) {
        return encoded.table().orElseThrow();
    }

    private static float[] palette(EncodedWeight encoded, int group) {
        EncodedWeight.Table table = table(encoded);
        boolean half = table.data().byteSize() == 2L * table.rowBlocks() * table.entries();
        float[] entries = new float[table.entries()];
        for (int i = 0; i < entries.length; i++) {
            long at = (long) group * entries.length + i;
            entries[i] = half
                    ? Float.float16ToFloat(table.data().getAtIndex(ValueLayout.JAVA_SHORT, at))
                    : table.data().getAtIndex(ValueLayout.JAVA_FLOAT, at);
        }
        return entries;
    }

    private static float[] decoded(EncodedWeight encoded, int rows, int columns) {
        int bits = encoded.dtype().bits();
        byte[] data = encoded.data().toArray(ValueLayout.JAVA_BYTE);
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            int index = 0;
            for (int b = 0; b < bits; b++) {
                int bit = i * bits + b;
                index |= (data[bit / 8] >> bit % 8 & 1) << b;
            }
            values[i] = palette(encoded, i / columns / (rows / table(encoded).rowBlocks()))[index];
        }
        return values;
    }

    private EncodedWeight encode(WeightEncoding encoding, DType tableType, int rows, int columns, float... values) {
        MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        return WeightEncoder.encode(new WeightRows("w", source, DType.FP32, rows, columns), encoding, tableType, arena);
    }

    private static float[] floats(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_FLOAT);
    }

    private static float[] random(int n) {
        Random random = new Random(7);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian() * 0.05f;
        }
        return values;
    }
}
