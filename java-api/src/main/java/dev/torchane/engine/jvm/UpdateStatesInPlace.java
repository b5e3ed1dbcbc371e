package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes updates straight into their state, and reads a state without a copy where nothing writes to it as long as what was
 * read is used.
 *
 * <pre>
 * Given:   a = read_state(s)                      Result:  jvm.update_state(s, u, begin)
 *          b = slice_update(a, u, begin, end)              c = jvm.read_state(s)
 *          write_state(s, b)                               y = slice_by_index(c, …)
 *          c = read_state(s)
 *          y = slice_by_index(c, …)
 * </pre>
 *
 * An update whose old or new value is used elsewhere, or that has strides, keeps its three operations.
 */
final class UpdateStatesInPlace {

    static final String UPDATE = "jvm.update_state";
    static final String READ = "jvm.read_state";

    private static final Set<String> VIEWS = Set.of(
            "reshape",
            "expand_dims",
            "squeeze",
            "slice_by_index",
            "slice_by_size",
            "split",
            "transpose",
            "cast",
            "identity");

    private final Function function;
    private final Constants constants;
    private final Uses uses;

    private UpdateStatesInPlace(Function function) {
        this.function = function;
        this.constants = new Constants(function);
        this.uses = new Uses(function);
    }

    static Function apply(Function function) {
        if (function.states().isEmpty()) {
            return function;
        }
        return new UpdateStatesInPlace(function).updates().reads();
    }

    private UpdateStatesInPlace updates() {
        List<Operation> operations = function.operations();
        Map<Integer, Operation> replaced = new HashMap<>();
        Set<Integer> gone = new HashSet<>();
        for (int write = 0; write < operations.size(); write++) {
            int update = update(write);
            if (update >= 0) {
                gone.add(update);
                Operation slice = operations.get(update);
                Map<String, List<Value>> inputs = new LinkedHashMap<>();
                inputs.put("state", operations.get(write).inputs().get("input"));
                inputs.put("update", slice.inputs().get("update"));
                inputs.put("begin", slice.inputs().get("begin"));
                replaced.put(write, new Operation(UPDATE, inputs, List.of(), Map.of("name", name(slice))));
            }
        }
        List<Operation> result = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            if (replaced.containsKey(i)) {
                result.add(replaced.get(i));
            } else if (!gone.contains(i)) {
                result.add(operations.get(i));
            }
        }
        Function updated =
                new Function(function.name(), function.opset(), function.inputs(), result, function.outputs());
        return new UpdateStatesInPlace(RemoveDeadCode.apply(updated));
    }

    /** Index of the {@code slice_update} behind a {@code write_state} that can be done in place, or -1. */
    private int update(int write) {
        Operation store = function.operations().get(write);
        if (!store.kind().equals("write_state")) {
            return -1;
        }
        Value state = store.input("input").orElseThrow();
        Value data = store.input("data").orElseThrow();
        int update = definition(data, write).orElse(-1);
        if (update < 0 || !function.operations().get(update).kind().equals("slice_update")) {
            return -1;
        }
        Operation slice = function.operations().get(update);
        Value old = slice.input("x").orElseThrow();
        int read = definition(old, update).orElse(-1);
        boolean fits = read >= 0
                && function.operations().get(read).kind().equals("read_state")
                && function.operations().get(read).input("input").orElseThrow().equals(state)
                && !writes(state, read, write)
                && uses.of(data).equals(List.of(write))
                && !uses.isOutput(data)
                && !uses.isOutput(old)
                && unitStrides(slice);
        return fits ? update : -1;
    }

    private boolean unitStrides(Operation slice) {
        boolean ones = !slice.inputs().containsKey("stride")
                || constants
                        .ints(slice, "stride")
                        .filter(strides -> java.util.Arrays.stream(strides).allMatch(stride -> stride == 1))
                        .isPresent();
        return ones && falseOrAbsent(slice, "begin_mask") && falseOrAbsent(slice, "squeeze_mask");
    }

    private boolean falseOrAbsent(Operation slice, String mask) {
        return !slice.inputs().containsKey(mask)
                || constants
                        .ints(slice, mask)
                        .filter(flags -> java.util.Arrays.stream(flags).allMatch(flag -> flag == 0))
                        .isPresent();
    }

    private Optional<Integer> definition(Value value, int before) {
        for (int i = before - 1; i >= 0; i--) {
            if (function.operations().get(i).outputs().contains(value)) {
                return Optional.of(i);
            }
        }
        return Optional.empty();
    }

    /** Whether a state is written by an operation in {@code (after, before)}. */
    private boolean writes(Value state, int after, int before) {
        for (int i = after + 1; i < before; i++) {
            Operation operation = function.operations().get(i);
            boolean writes =
                    operation.kind().equals("write_state") || operation.kind().equals(UPDATE);
            if (writes && operation.inputs().values().stream().anyMatch(values -> values.contains(state))) {
                return true;
            }
        }
        return false;
    }

    private Function reads() {
        List<Operation> result = new ArrayList<>();
        for (int i = 0; i < function.operations().size(); i++) {
            Operation operation = function.operations().get(i);
            if (operation.kind().equals("read_state")) {
                Value state = operation.input("input").orElseThrow();
                int last = lastUse(operation.output());
                if (last < Integer.MAX_VALUE && !writes(state, i, last)) {
                    operation = new Operation(
                            READ, Map.of("state", List.of(state)), operation.outputs(), operation.attributes());
                }
            }
            result.add(operation);
        }
        return new Function(function.name(), function.opset(), function.inputs(), result, function.outputs());
    }

    /** Index of the last operation that uses a value or a view of it. */
    private int lastUse(Value value) {
        int last = uses.isOutput(value) ? Integer.MAX_VALUE : -1;
        for (int use : uses.of(value)) {
            last = Math.max(last, use);
            Operation operation = function.operations().get(use);
            if (VIEWS.contains(operation.kind())) {
                for (Value view : operation.outputs()) {
                    last = Math.max(last, lastUse(view));
                }
            }
        }
        return last;
    }

    private static Literal name(Operation operation) {
        return new Literal.Text(operation.output().name());
    }
}
