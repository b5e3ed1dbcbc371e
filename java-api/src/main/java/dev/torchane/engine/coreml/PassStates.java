package dev.torchane.engine.coreml;

import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * States are kept by the caller: each is an input, and an output with {@code _out} behind its name.
 *
 * <pre>
 * Given   f(state s) { a = read_state(s); write_state(s, b) } -> (y)     Result  f(s) { } -> (y, s_out = b), a is s
 * </pre>
 */
final class PassStates implements FunctionCopy.Change {

    private static final String OUTPUT = "_out";

    private final Map<String, Value> current = new LinkedHashMap<>();

    @Override
    public Value input(Value input, FunctionBuilder into) {
        Value given = into.input(input.name(), input.type());
        if (input.state()) {
            current.put(input.name(), given);
        }
        return given;
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        return switch (operation.kind()) {
            case "read_state" -> Optional.of(List.of(current.get(state(operation))));
            case "write_state" -> {
                current.put(state(operation), copy.value(operation.input("data").orElseThrow()));
                yield Optional.of(List.of());
            }
            default -> Optional.empty();
        };
    }

    private static String state(Operation operation) {
        return operation.input("input").orElseThrow().name();
    }

    @Override
    public Map<String, Value> outputs(Map<String, Value> results, FunctionCopy copy, List<Value> source) {
        Map<String, Value> all = new LinkedHashMap<>(results);
        current.forEach((name, value) -> all.put(name + OUTPUT, value));
        return all;
    }
}
