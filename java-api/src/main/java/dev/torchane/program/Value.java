package dev.torchane.program;

/**
 * One SSA value of a function.
 *
 * @param name unique within its function; a MIL identifier
 * @param type element type and shape
 * @param state whether this is a state of the function ({@code state<tensor<…>>}), to be read with {@code read_state}
 */
public record Value(String name, TensorType type, boolean state) implements Operand {

    /** A plain value. */
    public Value(String name, TensorType type) {
        this(name, type, false);
    }

    @Override
    public String toString() {
        return (state ? "state<" + type + ">" : type.toString()) + " " + name;
    }
}
