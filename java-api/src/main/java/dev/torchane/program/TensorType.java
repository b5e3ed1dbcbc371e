package dev.torchane.program;

import java.util.Arrays;
import java.util.List;

/**
 * The type of a value: an element type and a static shape.
 *
 * @param dtype element type
 * @param shape sizes of the axes, outermost first; empty for a scalar
 */
public record TensorType(DType dtype, List<Integer> shape) {

    public TensorType {
        shape = List.copyOf(shape);
        for (int size : shape) {
            if (size < 0) {
                throw new IllegalArgumentException("a tensor type has a negative axis: " + shape);
            }
        }
    }

    /** A type from its element type and axis sizes. */
    public static TensorType of(DType dtype, int... shape) {
        return new TensorType(dtype, Arrays.stream(shape).boxed().toList());
    }

    /** Number of axes. */
    public int rank() {
        return shape.size();
    }

    /** Size of an axis; a negative axis counts from the end. */
    public int axis(int axis) {
        return shape.get(axis < 0 ? axis + rank() : axis);
    }

    /** Number of elements. */
    public long elements() {
        long product = 1;
        // By index: engines ask in every step, and an iterator is an object.
        for (int axis = 0; axis < shape.size(); axis++) {
            product = Math.multiplyExact(product, (long) shape.get(axis));
        }
        return product;
    }

    /** Bytes of the densely packed elements. */
    public long bytes() {
        return dtype.bytes(elements());
    }

    /** The same shape with another element type. */
    public TensorType withDtype(DType other) {
        return new TensorType(other, shape);
    }

    /** The same element type with another shape. */
    public TensorType withShape(List<Integer> other) {
        return new TensorType(dtype, other);
    }

    /** As in MIL text: {@code tensor<fp16, [1, 64]>}, or {@code int32} for a scalar. */
    @Override
    public String toString() {
        return shape.isEmpty() ? dtype.mil() : "tensor<" + dtype.mil() + ", " + shape + ">";
    }
}
