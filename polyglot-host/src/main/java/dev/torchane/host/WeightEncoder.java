package dev.torchane.host;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.torchane.TorchAneException;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Encodes a weight for the weight file, row by row, on all cores.
 *
 * <p>int8 is symmetric with one scale for each row: {@code scale = max|x| / 127}, rounded to the scale's type, and
 * {@code q = round(x / scale)}, halves to even, within ±127.
 */
final class WeightEncoder {

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LARGEST = 127;

    private WeightEncoder() {}

    /**
     * An encoded weight.
     *
     * @param dtype element type of {@code data}
     * @param data rows × columns, densely packed
     * @param scale a scale for each row, when {@code dtype} is int8
     * @param maxError largest absolute difference from the source
     */
    record Encoded(DType dtype, MemorySegment data, Optional<MemorySegment> scale, double maxError) {}

    /**
     * Encodes a matrix; other shapes are taken as one column for each element of the first axis, or as a single row.
     *
     * @param name of the weight, for messages
     * @param source rows × columns of {@code type}, densely packed
     * @param type fp32, fp16 or bf16
     * @param scaleType fp32 or fp16, for int8
     * @param arena owns the result
     * @throws TorchAneException when a value is not finite, or too large for fp16
     */
    static Encoded encode(
            String name,
            MemorySegment source,
            DType type,
            int rows,
            int columns,
            WeightEncoding encoding,
            DType scaleType,
            Arena arena) {
        long elements = (long) rows * columns;
        if (source.byteSize() != type.bytes(elements)) {
            throw new IllegalArgumentException("weight '" + name + "' has " + source.byteSize() + " bytes; " + rows
                    + " × " + columns + " of " + type.mil() + " are " + type.bytes(elements));
        }
        Reader reader = reader(type);
        return switch (encoding) {
            case FP32 -> {
                MemorySegment data =
                        arena.allocate(Math.max(1, elements * 4), 64).asSlice(0, elements * 4);
                double error = worst(rows, row -> {
                    float[] values = reader.row(name, source, row, columns);
                    MemorySegment.copy(values, 0, data, F32, (long) row * columns * 4, columns);
                    return 0;
                });
                yield new Encoded(DType.FP32, data, Optional.empty(), error);
            }
            case FP16 -> {
                MemorySegment data =
                        arena.allocate(Math.max(1, elements * 2), 64).asSlice(0, elements * 2);
                double error = worst(rows, row -> halfRow(name, reader.row(name, source, row, columns), data, row));
                yield new Encoded(DType.FP16, data, Optional.empty(), error);
            }
            case INT8 -> {
                MemorySegment data = arena.allocate(Math.max(1, elements), 64).asSlice(0, elements);
                MemorySegment scales =
                        arena.allocate(Math.max(1, scaleType.bytes(rows)), 64).asSlice(0, scaleType.bytes(rows));
                double error = worst(
                        rows,
                        row -> quantisedRow(reader.row(name, source, row, columns), data, scales, scaleType, row));
                yield new Encoded(DType.INT8, data, Optional.of(scales), error);
            }
        };
    }

    private static double halfRow(String name, float[] values, MemorySegment data, int row) {
        double worst = 0;
        long at = (long) row * values.length;
        for (int i = 0; i < values.length; i++) {
            short half = Float.floatToFloat16(values[i]);
            float rounded = Float.float16ToFloat(half);
            if (Float.isInfinite(rounded)) {
                throw new TorchAneException("weight '" + name + "' holds " + values[i] + " in row " + row
                        + ", beyond fp16's 65504: build it with weights int8 or fp32");
            }
            data.set(I16, (at + i) * 2, half);
            worst = Math.max(worst, Math.abs((double) values[i] - rounded));
        }
        return worst;
    }

    private static double quantisedRow(
            float[] values, MemorySegment data, MemorySegment scales, DType scaleType, int row) {
        float largest = 0;
        for (float value : values) {
            largest = Math.max(largest, Math.abs(value));
        }
        float scale = largest / LARGEST;
        if (scaleType == DType.FP16) {
            short half = Float.floatToFloat16(scale);
            scale = Float.float16ToFloat(half);
            scales.set(I16, row * 2L, half);
        } else {
            scales.set(F32, row * 4L, scale);
        }
        double worst = 0;
        long at = (long) row * values.length;
        for (int i = 0; i < values.length; i++) {
            float value = values[i];
            int q = scale == 0 ? 0 : (int) Math.rint(value / scale);
            q = Math.clamp(q, -LARGEST, LARGEST);
            data.set(JAVA_BYTE, at + i, (byte) q);
            worst = Math.max(worst, Math.abs(value - (double) q * scale));
        }
        return worst;
    }

    private interface Row {
        /** Encodes a row and answers its largest error. */
        double encode(int row);
    }

    private static double worst(int rows, Row row) {
        return IntStream.range(0, rows)
                .parallel()
                .mapToDouble(row::encode)
                .max()
                .orElse(0);
    }

    private interface Reader {
        float value(MemorySegment source, long index);

        default float[] row(String name, MemorySegment source, int row, int columns) {
            float[] values = new float[columns];
            long at = (long) row * columns;
            for (int i = 0; i < columns; i++) {
                values[i] = value(source, at + i);
                if (!Float.isFinite(values[i])) {
                    throw new TorchAneException("weight '" + name + "' holds " + values[i] + " at [" + row + ", " + i
                            + "]: the checkpoint is damaged");
                }
            }
            return values;
        }
    }

    private static Reader reader(DType type) {
        return switch (type) {
            case FP32 -> (source, i) -> source.getAtIndex(F32, i);
            case FP16 -> (source, i) -> Float.float16ToFloat(source.getAtIndex(I16, i));
            case BF16 -> (source, i) -> Float.intBitsToFloat(source.getAtIndex(I16, i) << 16);
            default ->
                throw new IllegalArgumentException(
                        "weights are fp32, fp16 or bf16 before they are encoded, found " + type.mil());
        };
    }
}
