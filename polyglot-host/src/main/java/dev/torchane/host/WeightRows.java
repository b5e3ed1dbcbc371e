package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The rows of a matrix before it is encoded.
 *
 * @param name of the weight, for messages
 * @param source rows × columns of {@code type}, densely packed
 * @param type fp32, fp16 or bf16
 */
record WeightRows(String name, MemorySegment source, DType type, int rows, int columns) {

    static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    WeightRows {
        if (type != DType.FP32 && type != DType.FP16 && type != DType.BF16) {
            throw new IllegalArgumentException(
                    "weights are fp32, fp16 or bf16 before they are encoded, found " + type.mil());
        }
        long bytes = type.bytes((long) rows * columns);
        if (source.byteSize() != bytes) {
            throw new IllegalArgumentException("weight '" + name + "' has " + source.byteSize() + " bytes; " + rows
                    + " × " + columns + " of " + type.mil() + " are " + bytes);
        }
    }

    long elements() {
        return (long) rows * columns;
    }

    /**
     * Row {@code row} as fp32.
     *
     * @throws TorchAneException when a value is not finite
     */
    float[] row(int row) {
        return rows(row, 1);
    }

    /** {@code count} rows from {@code first}, one behind the other. */
    float[] rows(int first, int count) {
        float[] values = new float[Math.multiplyExact(count, columns)];
        long at = (long) first * columns;
        for (int i = 0; i < values.length; i++) {
            values[i] = value(at + i);
            if (!Float.isFinite(values[i])) {
                throw new TorchAneException("weight '" + name + "' holds " + values[i] + " at [" + (first + i / columns)
                        + ", " + i % columns + "]: the checkpoint is damaged");
            }
        }
        return values;
    }

    private float value(long index) {
        return switch (type) {
            case FP32 -> source.getAtIndex(F32, index);
            case FP16 -> Float.float16ToFloat(source.getAtIndex(I16, index));
            default -> Float.intBitsToFloat(source.getAtIndex(I16, index) << 16);
        };
    }
}
