package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.StateStorage;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.List;

/** How a state lies in memory. */
enum StateMemory {
    /** {@code float[]}. */
    FP32,
    /** {@code short[]}. */
    FP16,
    /** {@code byte[]} with {@link QuantizedRows} along the last axis. */
    INT8;

    /** How a program's state is kept. Numerics as declared keep what is declared. */
    static StateMemory of(TensorType declared, EngineOptions options) {
        StateStorage storage = options.numerics() == Numerics.DECLARED ? StateStorage.DECLARED : options.states();
        return switch (storage) {
            case DECLARED -> declared.dtype() == DType.FP16 ? FP16 : FP32;
            case FP16 -> FP16;
            case INT8 -> declared.rank() > 0 ? INT8 : FP16;
        };
    }

    static StateMemory of(Object memory) {
        return switch (memory) {
            case byte[] rows -> INT8;
            case short[] halves -> FP16;
            default -> FP32;
        };
    }

    /** The type of what lies in memory: int8 rows are longer by their factors. */
    TensorType type(TensorType declared) {
        return switch (this) {
            case FP32 -> TensorType.of(DType.FP32).withShape(declared.shape());
            case FP16 -> TensorType.of(DType.FP16).withShape(declared.shape());
            case INT8 -> {
                List<Integer> shape = new ArrayList<>(declared.shape());
                shape.set(shape.size() - 1, QuantizedRows.stride(declared.axis(-1)));
                yield TensorType.of(DType.INT8).withShape(shape);
            }
        };
    }

    /** Zeroed memory for a state. */
    Object allocate(TensorType declared) {
        int size = Math.toIntExact(type(declared).elements());
        return switch (this) {
            case FP32 -> new float[size];
            case FP16 -> new short[size];
            case INT8 -> new byte[size];
        };
    }

    /** Place in memory of an element that begins a row of {@code dim}. */
    int place(int element, int dim) {
        return this == INT8 ? element / dim * QuantizedRows.stride(dim) : element;
    }

    /** Writes whole rows of {@code dim} numbers from an element on. */
    static void store(float[] values, int from, int size, Object memory, int element, int dim) {
        switch (memory) {
            case byte[] rows -> {
                for (int i = 0; i < size; i += dim) {
                    QuantizedRows.store(values, from + i, dim, rows, INT8.place(element + i, dim));
                }
            }
            case short[] halves -> {
                for (int i = 0; i < size; i++) {
                    halves[element + i] = Float.floatToFloat16(values[from + i]);
                }
            }
            default -> System.arraycopy(values, from, (float[]) memory, element, size);
        }
    }

    /** Reads whole rows of {@code dim} numbers from an element on. */
    static void widen(Object memory, int element, float[] to, int offset, int size, int dim) {
        switch (memory) {
            case byte[] rows -> QuantizedRows.widen(rows, INT8.place(element, dim), to, offset, size, dim);
            case short[] halves -> ScalarKernels.halves(halves, element, to, offset, size);
            default -> System.arraycopy((float[]) memory, element, to, offset, size);
        }
    }
}
