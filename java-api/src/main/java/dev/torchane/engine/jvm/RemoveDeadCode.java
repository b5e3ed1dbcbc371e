package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Removes operations that nothing depends on.
 *
 * <pre>
 * Given:   y = exp(x)            Result:  z = relu(x)
 *          z = relu(x)                    return z
 *          return z
 * </pre>
 */
final class RemoveDeadCode {

    private RemoveDeadCode() {}

    static Function apply(Function function) {
        Set<String> alive = new HashSet<>();
        for (Value output : function.outputs()) {
            alive.add(output.name());
        }
        List<Operation> kept = new ArrayList<>();
        for (Operation operation : function.operations().reversed()) {
            boolean needed = operation.kind().equals("write_state")
                    || operation.kind().equals(UpdateStatesInPlace.UPDATE)
                    || operation.outputs().stream().anyMatch(value -> alive.contains(value.name()));
            if (needed) {
                kept.add(operation);
                for (List<Value> values : operation.inputs().values()) {
                    for (Value value : values) {
                        alive.add(value.name());
                    }
                }
            }
        }
        Collections.reverse(kept);
        return new Function(function.name(), function.opset(), function.inputs(), kept, function.outputs());
    }
}
