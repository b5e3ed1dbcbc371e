package dev.torchane.host;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Symmetric integers with scales, {@code x ≈ scale · q}.
 *
 * <p>int8 has one scale for each row: {@code max|x| / 127}, rounded to the scale's type, and {@code q = round(x / scale)}, halves to
 * even, within ±127. int4 has one for each block of a row: of some scales below {@code max|x| / 7}, the one with the least sum of
 * squared differences, and q from −8 to 7.
 */
final class ScaledIntegers {

    private static final int BYTE = 127;
    private static final int LEAST_NIBBLE = -8;
    private static final int LARGEST_NIBBLE = 7;
    private static final int SMALLEST_BLOCK = 16;
    /** What a block's largest magnitude is divided by, one after the other: beyond 7, extremes are cut off. */
    private static final float[] DIVISORS = {7f, 7.25f, 7.5f, 7.75f, 8f, 8.35f, 8.7f, 9.2f};

    private ScaledIntegers() {}

    static EncodedWeight perRow(WeightRows source, DType scaleType, Arena arena) {
        MemorySegment data = Packed.allocate(source.elements(), arena);
        StoredFloats scales = StoredFloats.allocate(scaleType, source.rows(), arena);
        EncodingError error = EncodingError.ofParts(source.rows(), row -> {
            float[] values = source.row(row);
            float scale = scales.set(row, magnitude(values, 0, values.length) / BYTE);
            long at = (long) row * values.length;
            EncodingError.Sum sum = new EncodingError.Sum();
            for (int i = 0; i < values.length; i++) {
                int q = nearest(values[i], scale, -BYTE, BYTE);
                data.set(JAVA_BYTE, at + i, (byte) q);
                sum.add(values[i] - (double) q * scale);
            }
            return sum.error();
        });
        EncodedWeight.Table table = new EncodedWeight.Table(scales.data(), source.rows(), 1, 1);
        return new EncodedWeight(WeightEncoding.INT8, DType.INT8, data, Optional.of(table), error);
    }

    /** The largest block of at most {@code largest} inputs that divides a row, or 0 if it would be too small. */
    static int block(int columns, int largest) {
        for (int block = Math.min(largest, columns); block >= SMALLEST_BLOCK; block--) {
            if (columns % block == 0) {
                return block;
            }
        }
        return 0;
    }

    static EncodedWeight perBlock(WeightRows source, int block, DType scaleType, Arena arena) {
        int blocks = source.columns() / block;
        MemorySegment bytes = Packed.allocate(source.elements(), arena);
        StoredFloats scales = StoredFloats.allocate(scaleType, (long) source.rows() * blocks, arena);
        EncodingError error = EncodingError.ofParts(source.rows(), row -> {
            float[] values = source.row(row);
            long at = (long) row * values.length;
            EncodingError.Sum sum = new EncodingError.Sum();
            for (int b = 0; b < blocks; b++) {
                float scale = scales.set((long) row * blocks + b, bestScale(values, b * block, block, scaleType));
                for (int i = b * block; i < (b + 1) * block; i++) {
                    int q = nibble(values[i], scale);
                    bytes.set(JAVA_BYTE, at + i, (byte) q);
                    sum.add(values[i] - (double) q * scale);
                }
            }
            return sum.error();
        });
        EncodedWeight.Table table = new EncodedWeight.Table(scales.data(), source.rows(), blocks, 1);
        MemorySegment data = Packed.pack(bytes, DType.INT4.bits(), arena);
        return new EncodedWeight(WeightEncoding.INT4, DType.INT4, data, Optional.of(table), error);
    }

    private static float bestScale(float[] values, int from, int count, DType type) {
        float magnitude = magnitude(values, from, count);
        float best = 0;
        double least = Double.POSITIVE_INFINITY;
        for (float divisor : DIVISORS) {
            float scale = StoredFloats.rounded(type, magnitude / divisor);
            double squares = 0;
            for (int i = from; i < from + count; i++) {
                double difference = values[i] - (double) nibble(values[i], scale) * scale;
                squares += difference * difference;
            }
            if (squares < least) {
                least = squares;
                best = scale;
            }
        }
        return best;
    }

    private static float magnitude(float[] values, int from, int count) {
        float largest = 0;
        for (int i = from; i < from + count; i++) {
            largest = Math.max(largest, Math.abs(values[i]));
        }
        return largest;
    }

    private static int nibble(float value, float scale) {
        return nearest(value, scale, LEAST_NIBBLE, LARGEST_NIBBLE);
    }

    private static int nearest(float value, float scale, int least, int largest) {
        return scale == 0 ? 0 : Math.clamp((int) Math.rint(value / scale), least, largest);
    }
}
