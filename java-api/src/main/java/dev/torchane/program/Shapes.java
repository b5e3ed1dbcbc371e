package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** Arithmetic on shapes that several rules share. */
final class Shapes {

    private Shapes() {}

    /** Broadcasts two shapes as numpy does. */
    static List<Integer> broadcast(Call call, List<Integer> first, List<Integer> second) {
        int rank = Math.max(first.size(), second.size());
        List<Integer> shape = new ArrayList<>(rank);
        for (int i = 0; i < rank; i++) {
            int a = aligned(first, i, rank);
            int b = aligned(second, i, rank);
            if (a != b && a != 1 && b != 1) {
                throw call.refuse("shapes that broadcast, not " + first + " with " + second);
            }
            shape.add(a == 1 ? b : a);
        }
        return shape;
    }

    private static int aligned(List<Integer> shape, int axis, int rank) {
        int index = axis - (rank - shape.size());
        return index < 0 ? 1 : shape.get(index);
    }

    /** Number of elements. */
    static long elements(List<Integer> shape) {
        return new TensorType(DType.INT8, shape).elements();
    }

    /** The shape with one axis replaced. */
    static List<Integer> with(List<Integer> shape, int axis, int size) {
        List<Integer> changed = new ArrayList<>(shape);
        changed.set(axis, size);
        return changed;
    }

    /** The size as an axis, or a refusal where it does not fit. */
    static int size(Call call, long size) {
        if (size < 0 || size > Integer.MAX_VALUE) {
            throw call.refuse("a result whose axes fit 31 bits, not one of size " + size);
        }
        return (int) size;
    }
}
