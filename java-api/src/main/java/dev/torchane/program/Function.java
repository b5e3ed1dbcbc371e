package dev.torchane.program;

import java.util.List;

/**
 * A named function of a program.
 *
 * @param name entry point
 * @param opset operation set, such as {@code ios18}
 * @param inputs tensors given at each call, and states (those with {@link Value#state()})
 * @param operations in execution order; every operand is an input or defined before
 * @param outputs values returned
 */
public record Function(String name, String opset, List<Value> inputs, List<Operation> operations, List<Value> outputs) {

    public Function {
        inputs = List.copyOf(inputs);
        operations = List.copyOf(operations);
        outputs = List.copyOf(outputs);
    }

    /** The inputs that are states. */
    public List<Value> states() {
        return inputs.stream().filter(Value::state).toList();
    }

    /** The inputs that are tensors given at each call. */
    public List<Value> tensors() {
        return inputs.stream().filter(value -> !value.state()).toList();
    }
}
