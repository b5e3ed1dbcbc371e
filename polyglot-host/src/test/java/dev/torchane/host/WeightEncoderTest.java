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
import org.junit.jupiter.api.Test;

class WeightEncoderTest {

    private final Arena arena = Arena.ofAuto();

    @Test
    void int8HasOneScaleForEachRowAndUsesItsWholeRange() {
        WeightEncoder.Encoded encoded = encode(WeightEncoding.INT8, DType.FP32, 2, 3, 127f, -63.5f, 1f, 0f, 0f, 0f);

        assertArrayEquals(new byte[] {127, -64, 1, 0, 0, 0}, encoded.data().toArray(ValueLayout.JAVA_BYTE));
        assertArrayEquals(new float[] {1f, 0f}, floats(encoded.scale().orElseThrow()));
        assertEquals(0.5, encoded.maxError());
    }

    @Test
    void int8RoundsHalvesToEven() {
        WeightEncoder.Encoded encoded = encode(WeightEncoding.INT8, DType.FP32, 1, 5, 127f, 0.5f, 1.5f, 2.5f, -0.5f);

        assertArrayEquals(new byte[] {127, 0, 2, 2, 0}, encoded.data().toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void int8ErrsByAtMostHalfAStep() {
        float[] values = random(64 * 48);
        WeightEncoder.Encoded encoded = encode(WeightEncoding.INT8, DType.FP32, 64, 48, values);

        float[] scales = floats(encoded.scale().orElseThrow());
        double worst = 0;
        for (int i = 0; i < values.length; i++) {
            float scale = scales[i / 48];
            double error = Math.abs(values[i] - encoded.data().get(ValueLayout.JAVA_BYTE, i) * (double) scale);
            assertTrue(error <= scale * 0.5001, "element " + i + " errs by " + error);
            worst = Math.max(worst, error);
        }
        assertEquals(worst, encoded.maxError());
    }

    @Test
    void int8QuantisesWithTheScaleAsItIsStored() {
        float[] values = random(32);
        WeightEncoder.Encoded encoded = encode(WeightEncoding.INT8, DType.FP16, 1, 32, values);

        float scale = Float.float16ToFloat(encoded.scale().orElseThrow().get(ValueLayout.JAVA_SHORT, 0));
        for (int i = 0; i < 32; i++) {
            assertEquals(
                    (byte) Math.clamp((int) Math.rint(values[i] / scale), -127, 127),
                    encoded.data().get(ValueLayout.JAVA_BYTE, i));
        }
    }

    @Test
    void fp16RoundsAndTellsItsError() {
        WeightEncoder.Encoded encoded = encode(WeightEncoding.FP16, DType.FP32, 1, 2, 1f, 0.1f);

        assertEquals(Float.floatToFloat16(0.1f), encoded.data().getAtIndex(ValueLayout.JAVA_SHORT, 1));
        assertEquals(Math.abs(0.1f - Float.float16ToFloat(Float.floatToFloat16(0.1f))), encoded.maxError(), 1e-12);
    }

    @Test
    void fp16RefusesWhatItCannotHold() {
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> encode(WeightEncoding.FP16, DType.FP32, 1, 2, 1f, 70000f));

        assertTrue(e.getMessage().contains("'w' holds 70000.0"), e.getMessage());
    }

    @Test
    void damagedValuesAreRefusedByPlace() {
        for (WeightEncoding encoding : WeightEncoding.values()) {
            TorchAneException e = assertThrows(
                    TorchAneException.class, () -> encode(encoding, DType.FP32, 2, 2, 1f, 1f, 1f, Float.NaN));
            assertTrue(e.getMessage().contains("'w' holds NaN at [1, 1]"), e.getMessage());
        }
    }

    @Test
    void bf16AndFp16SourcesAreRead() {
        MemorySegment halves = arena.allocate(4);
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToIntBits(1.5f) >>> 16));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 1, (short) (Float.floatToIntBits(-2f) >>> 16));
        assertArrayEquals(
                new float[] {1.5f, -2f},
                floats(WeightEncoder.encode("w", halves, DType.BF16, 1, 2, WeightEncoding.FP32, DType.FP32, arena)
                        .data()));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16(0.25f));
        halves.setAtIndex(ValueLayout.JAVA_SHORT, 1, Float.floatToFloat16(3f));
        assertArrayEquals(
                new float[] {0.25f, 3f},
                floats(WeightEncoder.encode("w", halves, DType.FP16, 1, 2, WeightEncoding.FP32, DType.FP32, arena)
                        .data()));
    }

    private WeightEncoder.Encoded encode(
            WeightEncoding encoding, DType scaleType, int rows, int columns, float... values) {
        MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        return WeightEncoder.encode("w", source, DType.FP32, rows, columns, encoding, scaleType, arena);
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
