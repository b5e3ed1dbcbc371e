package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The window that {@code begin}, {@code end}, {@code stride} and the masks of {@code slice_by_index} and
 * {@code slice_update} describe, with the meaning of Python's slices.
 */
record SliceWindow(
        Optional<List<Integer>> begin,
        Optional<List<Integer>> end,
        List<Integer> stride,
        List<Boolean> beginMask,
        List<Boolean> endMask,
        List<Boolean> squeezeMask) {

    static SliceWindow of(Call call, TensorType x) {
        int rank = x.rank();
        for (String parameter : List.of("begin", "end")) {
            TensorType type = call.type(parameter);
            if (type.dtype().isFloat() || !type.shape().equals(List.of(rank))) {
                throw call.refuse("'" + parameter + "' of " + rank + " integers, not " + type);
            }
        }
        List<Integer> stride = call.has("stride") ? call.ints("stride") : java.util.Collections.nCopies(rank, 1);
        if (stride.size() != rank || stride.contains(0)) {
            throw call.refuse(rank + " strides that are not 0, not " + stride);
        }
        return new SliceWindow(
                call.integers("begin"),
                call.integers("end"),
                stride,
                call.flags("begin_mask", rank),
                call.flags("end_mask", rank),
                call.flags("squeeze_mask", rank));
    }

    /** Whether the window's shape follows from constants. */
    boolean known() {
        for (int axis = 0; axis < stride.size(); axis++) {
            if (!known(axis)) {
                return false;
            }
        }
        return true;
    }

    private boolean known(int axis) {
        return squeezeMask.get(axis)
                || ((beginMask.get(axis) || begin.isPresent()) && (endMask.get(axis) || end.isPresent()));
    }

    /** Axes that remain. */
    int rank() {
        return (int) squeezeMask.stream().filter(squeezed -> !squeezed).count();
    }

    /** Shape of the window in {@code x}. */
    List<Integer> shape(Call call, TensorType x) {
        List<Integer> shape = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            if (!known(axis)) {
                throw call.refuse("constant 'begin' and 'end' on axis " + axis
                        + " (for a window that moves use slice_by_size with a constant 'size')");
            }
            int size = x.axis(axis);
            if (squeezeMask.get(axis)) {
                requireInside(call, axis, size);
                continue;
            }
            int step = stride.get(axis);
            int least = step > 0 ? 0 : -1;
            int most = step > 0 ? size : size - 1;
            int from = beginMask.get(axis)
                    ? (step > 0 ? 0 : size - 1)
                    : clamp(begin.orElseThrow().get(axis), size, least, most);
            int to = endMask.get(axis)
                    ? (step > 0 ? size : -1)
                    : clamp(end.orElseThrow().get(axis), size, least, most);
            long span = step > 0 ? (long) to - from : (long) from - to;
            shape.add((int) Math.max(0, Math.ceilDiv(span, Math.abs((long) step))));
            if (shape.getLast() == 0) {
                throw call.refuse("a window that is not empty on axis " + axis + " of size " + size + ", found " + from
                        + " to " + to + " by " + step);
            }
        }
        return shape;
    }

    private void requireInside(Call call, int axis, int size) {
        int index =
                beginMask.get(axis) ? 0 : begin.map(values -> values.get(axis)).orElse(0);
        if (index < -size || index >= size) {
            throw call.refuse(
                    "an index between " + -size + " and " + (size - 1) + " on axis " + axis + ", not " + index);
        }
    }

    private static int clamp(int index, int size, int least, int most) {
        return Math.clamp(index < 0 ? (long) index + size : index, least, most);
    }
}
