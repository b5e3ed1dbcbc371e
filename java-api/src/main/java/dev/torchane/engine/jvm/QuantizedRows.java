package dev.torchane.engine.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Rows of int8 numbers with one fp32 factor each, which stands little-endian behind its row. */
final class QuantizedRows {

    private static final VarHandle FLOAT = MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int LARGEST = 127;

    private QuantizedRows() {}

    /** Bytes of a row of {@code dim} numbers. */
    static int stride(int dim) {
        return dim + Float.BYTES;
    }

    static float factor(byte[] rows, int at, int dim) {
        return (float) FLOAT.get(rows, at + dim);
    }

    /** Quantises a row: the largest number becomes 127 or −127. A row that holds what is no finite number becomes NaN. */
    static void store(float[] row, int from, int dim, byte[] rows, int at) {
        float largest = 0;
        for (int d = 0; d < dim; d++) {
            largest = Math.max(largest, Math.abs(row[from + d]));
        }
        float inverse = largest > 0 ? LARGEST / largest : 0;
        for (int d = 0; d < dim; d++) {
            rows[at + d] = (byte) Math.round(row[from + d] * inverse);
        }
        FLOAT.set(rows, at + dim, largest < Float.POSITIVE_INFINITY ? largest / LARGEST : Float.NaN);
    }

    /** The numbers that consecutive rows stand for; {@code size} is a multiple of {@code dim}. */
    static void widen(byte[] rows, int at, float[] to, int offset, int size, int dim) {
        for (int row = 0; row < size / dim; row++) {
            int from = at + row * stride(dim);
            float factor = factor(rows, from, dim);
            for (int d = 0; d < dim; d++) {
                to[offset + row * dim + d] = rows[from + d] * factor;
            }
        }
    }
}
