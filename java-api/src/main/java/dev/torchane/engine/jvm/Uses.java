package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Where the values of a function are used: indices of operations, and whether a value is an output. */
final class Uses {

    private final Map<String, List<Integer>> uses = new HashMap<>();
    private final Set<String> outputs = new HashSet<>();

    Uses(Function function) {
        List<Operation> operations = function.operations();
        for (int i = 0; i < operations.size(); i++) {
            for (List<Value> values : operations.get(i).inputs().values()) {
                for (Value value : values) {
                    uses.computeIfAbsent(value.name(), name -> new ArrayList<>())
                            .add(i);
                }
            }
        }
        for (Value output : function.outputs()) {
            outputs.add(output.name());
        }
    }

    /** Indices of the operations that use a value, in order. */
    List<Integer> of(Value value) {
        return uses.getOrDefault(value.name(), List.of());
    }

    boolean isOutput(Value value) {
        return outputs.contains(value.name());
    }
}
