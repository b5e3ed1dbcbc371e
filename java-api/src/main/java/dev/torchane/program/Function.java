package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

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

    /** The same function with every reference to a weight file replaced. */
    Function withBlobs(UnaryOperator<Literal.Blob> relocation) {
        List<Operation> relocated = new ArrayList<>(operations.size());
        for (Operation operation : operations) {
            if (operation.attributes().get("val") instanceof Literal.Blob blob) {
                Map<String, Literal> attributes = new LinkedHashMap<>(operation.attributes());
                attributes.put("val", relocation.apply(blob));
                relocated.add(new Operation(operation.kind(), operation.inputs(), operation.outputs(), attributes));
            } else {
                relocated.add(operation);
            }
        }
        return new Function(name, opset, inputs, relocated, outputs);
    }

    /** The same function with values renamed; other values keep their names. */
    Function renamed(Map<String, String> names) {
        UnaryOperator<Value> rename =
                value -> new Value(names.getOrDefault(value.name(), value.name()), value.type(), value.state());
        List<Operation> changed = new ArrayList<>(operations.size());
        for (Operation operation : operations) {
            Map<String, List<Value>> operands = new LinkedHashMap<>();
            operation
                    .inputs()
                    .forEach((parameter, values) ->
                            operands.put(parameter, values.stream().map(rename).toList()));
            Map<String, Literal> attributes = new LinkedHashMap<>(operation.attributes());
            if (attributes.get("name") instanceof Literal.Text(String text) && names.containsKey(text)) {
                attributes.put("name", new Literal.Text(names.get(text)));
            }
            List<Value> results = operation.outputs().stream().map(rename).toList();
            changed.add(new Operation(operation.kind(), operands, results, attributes));
        }
        return new Function(
                name,
                opset,
                inputs.stream().map(rename).toList(),
                changed,
                outputs.stream().map(rename).toList());
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
