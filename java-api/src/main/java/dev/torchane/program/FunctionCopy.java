package dev.torchane.program;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Copies a function operation by operation, so that types are inferred anew where something is changed. */
public final class FunctionCopy {

    /** What is changed. */
    @FunctionalInterface
    public interface Change {

        /**
         * The results that take the place of an operation's own, in order.
         *
         * @return empty to copy the operation as it is
         */
        Optional<List<Value>> of(Operation operation, FunctionCopy copy);

        /** Declares an input or state of the source; by default with its own name and type. */
        default Value input(Value input, FunctionBuilder to) {
            return input.state() ? to.state(input.name(), input.type()) : to.input(input.name(), input.type());
        }

        /**
         * What the copy gives.
         *
         * @param results what the results of the source are in the copy, by name
         * @param source the results of the source
         */
        default Map<String, Value> outputs(Map<String, Value> results, FunctionCopy copy, List<Value> source) {
            return results;
        }
    }

    private final FunctionBuilder to;
    private final Map<String, Value> values = new HashMap<>();

    private FunctionCopy(FunctionBuilder to) {
        this.to = to;
    }

    /** Copies inputs, states, operations and outputs of {@code source} and ends the function that {@code to} makes. */
    public static Function of(Function source, FunctionBuilder to, Change change) {
        FunctionCopy copy = new FunctionCopy(to);
        for (Value input : source.inputs()) {
            copy.values.put(input.name(), change.input(input, to));
        }
        for (Operation operation : source.operations()) {
            List<Value> results = change.of(operation, copy).orElseGet(() -> copy.operation(operation, Map.of()));
            for (int i = 0; i < results.size(); i++) {
                copy.values.put(operation.outputs().get(i).name(), results.get(i));
            }
        }
        Map<String, Value> outputs = new LinkedHashMap<>();
        source.outputs().forEach(each -> outputs.put(each.name(), copy.value(each)));
        return to.done(change.outputs(outputs, copy, source.outputs()));
    }

    /** What a value of the source is in the copy. */
    public Value value(Value source) {
        return values.get(source.name());
    }

    /** Adds an operation of the source, with some operands replaced. */
    public List<Value> operation(Operation operation, Map<String, Operand> replaced) {
        if (operation.constant().isPresent()) {
            return List.of(
                    to.constant(operation.output().name(), operation.constant().get()));
        }
        Map<String, Operand> operands = new LinkedHashMap<>();
        operation.inputs().forEach((parameter, given) -> {
            List<Operand> list = new ArrayList<>();
            given.forEach(value -> list.add(value(value)));
            operands.put(parameter, list.size() == 1 ? list.getFirst() : new Operand.Many(list));
        });
        operands.putAll(replaced);
        String hint = operation.attributes().get("name") instanceof Literal.Text(String text) ? text : "";
        return to.operation(operation.kind(), hint, operands, operation.composite());
    }
}
