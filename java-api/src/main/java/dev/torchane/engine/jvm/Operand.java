package dev.torchane.engine.jvm;

import dev.torchane.program.TensorType;

/**
 * A value as a step sees it: a densely packed part of a buffer.
 *
 * @param buffer memory, shared by all values that alias each other
 * @param start first element within the buffer
 * @param type declared type; elements are kept as fp32 except in states
 */
record Operand(Buffer buffer, int start, TensorType type) {

    /** A constant. */
    static Operand constant(TensorType type, float... values) {
        Buffer buffer = new Buffer(values.length);
        buffer.constant = values;
        return new Operand(buffer, 0, type);
    }

    float[] array(Call call) {
        return buffer.array(call);
    }

    /** First element within {@link #array}. */
    int offset() {
        return buffer.offset + start;
    }

    int size() {
        return Math.toIntExact(type.elements());
    }

    boolean isConstant() {
        return buffer.constant != null;
    }

    /** Elements of a constant as integers. */
    int[] ints() {
        int[] values = new int[size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) buffer.constant[start + i];
        }
        return values;
    }

    int[] shape() {
        return type.shape().stream().mapToInt(Integer::intValue).toArray();
    }

    /** The same elements with another type of as many elements, from {@code more} elements further on. */
    Operand view(int more, TensorType other) {
        return new Operand(buffer, start + more, other);
    }

    /** Memory of one or more values: a part of the arena, a constant, or a state. */
    static final class Buffer {
        final int size;
        /** Place in the arena; 0 for constants and states. */
        int offset;
        /** Elements, if this is a constant. */
        float[] constant;
        /** Index of the state, or -1. */
        int state = -1;
        /** How elements are kept, which is fp32 except in states. */
        StateMemory memory = StateMemory.FP32;

        /** Elements along the last axis of a state. */
        int row = 1;

        int firstStep = Integer.MAX_VALUE;
        int lastStep = -1;

        Buffer(int size) {
            this.size = size;
        }

        boolean inArena() {
            return constant == null && state < 0;
        }

        float[] array(Call call) {
            if (constant != null) {
                return constant;
            }
            return state >= 0 ? (float[]) call.states[state] : call.arena;
        }

        void touch(int step) {
            firstStep = Math.min(firstStep, step);
            lastStep = Math.max(lastStep, step);
        }
    }
}
