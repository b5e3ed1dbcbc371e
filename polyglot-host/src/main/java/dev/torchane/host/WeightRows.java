package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.weights.WeightTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The rows of a matrix before it is encoded.
 *
 * @param name of the weight, for messages
 * @param values gives them as fp32
 */
record WeightRows(String name, int rows, int columns, Values values) {

    static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Where the values come from. Several threads read at once. */
    @FunctionalInterface
    interface Values {

        /** Writes rows from {@code first} on, as many as {@code target} holds, one behind the other. */
        void read(int first, float[] target);
    }

    /**
     * Rows that lie in memory.
     *
     * @param source rows × columns of {@code type}, densely packed
     * @param type fp32, fp16 or bf16
     */
    WeightRows(String name, MemorySegment source, DType type, int rows, int columns) {
        this(name, rows, columns, inMemory(source, type, columns));
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

    /**
     * Rows of a checkpoint's tensor, expanded when they are read.
     *
     * @param shape rows × columns that its elements are taken as
     * @param first row of these that is the first here
     * @param factor on every value, to which {@code offset} is added then
     */
    static WeightRows of(
            String name, WeightTensor tensor, int first, int rows, int columns, float factor, float offset) {
        return new WeightRows(name, rows, columns, (row, target) -> {
            MemorySegment values = MemorySegment.ofArray(target);
            if (tensor.columns() == columns) {
                tensor.dequantize((long) first + row, target.length / columns, values);
            } else {
                // A vector: one row in the checkpoint, or one column.
                tensor.dequantize(values);
            }
            if (factor != 1 || offset != 0) {
                for (int i = 0; i < target.length; i++) {
                    target[i] = factor * target[i] + offset;
                }
            }
        });
    }

    private static Values inMemory(MemorySegment source, DType type, int columns) {
        return (first, target) -> {
            long at = (long) first * columns;
            for (int i = 0; i < target.length; i++) {
                target[i] = switch (type) {
                    case FP32 -> source.getAtIndex(F32, at + i);
                    case FP16 -> Float.float16ToFloat(source.getAtIndex(I16, at + i));
                    default -> Float.intBitsToFloat(source.getAtIndex(I16, at + i) << 16);
                };
            }
        };
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
        float[] found = new float[Math.multiplyExact(count, columns)];
        values.read(first, found);
        for (int i = 0; i < found.length; i++) {
            if (!Float.isFinite(found[i])) {
                throw new TorchAneException("weight '" + name + "' holds " + found[i] + " at [" + (first + i / columns)
                        + ", " + i % columns + "]: the checkpoint is damaged");
            }
        }
        return found;
    }
}
