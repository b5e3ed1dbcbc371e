package dev.torchane.llm;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Copies columns of states, {@code [layers, 1, kvHeads, columns, headDim]}: everything that one token left behind. */
final class StateColumns {

    private StateColumns() {}

    /** Copies {@code count} columns of every state; the two may be the same and overlap. */
    static void copy(State source, int from, State target, int to, int count) {
        for (String name : source.names()) {
            copy(source.tensor(name), from, target.tensor(name), to, count);
        }
    }

    /**
     * Copies {@code count} columns between tensors that differ in their number of columns only; they may be the same and
     * overlap.
     */
    static void copy(Tensor source, int from, Tensor target, int to, int count) {
        for (long block = 0; block < blocks(source); block++) {
            MemorySegment.copy(
                    source.data(),
                    offset(source, block, from),
                    target.data(),
                    offset(target, block, to),
                    bytes(source, count));
        }
    }

    /** Sets the columns from {@code from} up to but not including {@code to} of every state to zero. */
    static void erase(State state, int from, int to) {
        for (String name : state.names()) {
            Tensor tensor = state.tensor(name);
            for (long block = 0; block < blocks(tensor); block++) {
                tensor.data()
                        .asSlice(offset(tensor, block, from), bytes(tensor, to - from))
                        .fill((byte) 0);
            }
        }
    }

    /** Copies some columns, ascending, to consecutive ones; source and target may be the same state, and then only move down. */
    static void copy(Tensor source, int[] columns, int count, Tensor target, int to) {
        int first = 0;
        while (first < count) {
            int end = first + 1;
            while (end < count && columns[end] == columns[end - 1] + 1) {
                end++;
            }
            if (source != target || columns[first] != to + first) {
                copy(source, columns[first], target, to + first, end - first);
            }
            first = end;
        }
    }

    /** Some columns, ascending, in tensors of their own. */
    static Map<String, Tensor> gather(State state, int[] columns, int count) {
        Map<String, Tensor> gathered = new HashMap<>();
        for (String name : state.names()) {
            Tensor source = state.tensor(name);
            List<Integer> shape = new ArrayList<>(source.type().shape());
            shape.set(shape.size() - 2, count);
            Tensor target = Tensor.allocate(source.type().withShape(shape));
            copy(source, columns, count, target, 0);
            gathered.put(name, target);
        }
        return gathered;
    }

    /** Runs of columns in a tensor: layers times heads. */
    static long blocks(Tensor tensor) {
        long blocks = 1;
        for (int axis = 0; axis < tensor.type().rank() - 2; axis++) {
            blocks *= tensor.type().axis(axis);
        }
        return blocks;
    }

    /** The first {@code count} columns of a block, a view. */
    static MemorySegment columns(Tensor tensor, long block, int count) {
        return tensor.data().asSlice(offset(tensor, block, 0), bytes(tensor, count));
    }

    private static long offset(Tensor tensor, long block, int column) {
        return bytes(tensor, 1) * (block * tensor.type().axis(-2) + column);
    }

    private static long bytes(Tensor tensor, int columns) {
        return tensor.type().dtype().bytes((long) tensor.type().axis(-1) * columns);
    }
}
