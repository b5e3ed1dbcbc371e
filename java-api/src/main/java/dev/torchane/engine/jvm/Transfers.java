package dev.torchane.engine.jvm;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Copies between the tensors of a call and the buffers of a plan, cutting rows on the way. */
final class Transfers {

    /** The largest integer up to which all integers are fp32 numbers, in which the engine keeps them. */
    private static final int EXACT = 1 << 24;

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Transfers() {}

    /** Copies a tensor, or its rows from {@code start} on as many as the place has, into a buffer. */
    static void read(Tensor tensor, int axis, int start, Operand place, float[] to) {
        TensorType whole = tensor.type();
        int at = place.offset();
        if (whole.shape().equals(place.type().shape())) {
            read(tensor, 0, place.size(), to, at);
            return;
        }
        int inner = inner(whole, axis);
        int rows = place.type().axis(axis);
        int outer = place.size() / Math.max(1, rows * inner);
        for (int o = 0; o < outer; o++) {
            long from = ((long) o * whole.axis(axis) + start) * inner;
            read(tensor, from, rows * inner, to, at + o * rows * inner);
        }
    }

    private static void read(Tensor tensor, long from, int size, float[] to, int at) {
        DType dtype = tensor.type().dtype();
        if (dtype == DType.FP32) {
            MemorySegment.copy(tensor.data(), F32, 4 * from, to, at, size);
        } else if (dtype == DType.FP16) {
            for (int i = 0; i < size; i++) {
                to[at + i] = Float.float16ToFloat(tensor.data().getAtIndex(I16, from + i));
            }
        } else {
            for (int i = 0; i < size; i++) {
                float value = tensor.get(from + i);
                if (Math.abs(value) >= EXACT && !dtype.isFloat()) {
                    throw new IllegalArgumentException("an input of type " + tensor.type() + " has an element of about "
                            + value + "; the jvm engine takes integers below 2^24");
                }
                to[at + i] = value;
            }
        }
    }

    /** Copies a result into a tensor, at its rows from {@code start} on. */
    static void write(Operand from, Call call, int axis, int start, Tensor tensor) {
        TensorType whole = tensor.type();
        float[] array = from.array(call);
        int at = from.offset();
        if (whole.shape().equals(from.type().shape())) {
            write(array, at, from.size(), tensor, 0);
            return;
        }
        int inner = inner(whole, axis);
        int rows = from.type().axis(axis);
        int outer = from.size() / Math.max(1, rows * inner);
        for (int o = 0; o < outer; o++) {
            long to = ((long) o * whole.axis(axis) + start) * inner;
            write(array, at + o * rows * inner, rows * inner, tensor, to);
        }
    }

    private static void write(float[] from, int at, int size, Tensor tensor, long to) {
        if (tensor.type().dtype() == DType.FP32) {
            MemorySegment.copy(from, at, tensor.data(), F32, 4 * to, size);
        } else {
            for (int i = 0; i < size; i++) {
                tensor.set(to + i, from[at + i]);
            }
        }
    }

    private static int inner(TensorType type, int axis) {
        int inner = 1;
        for (int a = axis + 1; a < type.rank(); a++) {
            inner *= type.axis(a);
        }
        return inner;
    }
}
