package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Moves linear layers of the same rows together, so that they become one step: queries, keys and values; gate and up.
 *
 * <pre>
 * Given:   q = linear(x, wq)             Result:  q = linear(x, wq)
 *          r = reshape(q)                         k = linear(x, wk)
 *          k = linear(x, wk)                      r = reshape(q)
 * </pre>
 *
 * Constants move to the front. Layers that may be left out ({@link GuardExperts}) stay among themselves. Layers whose weight or bias
 * is computed stay where they are.
 */
final class GatherLinears {

    private GatherLinears() {}

    static Function apply(Function function) {
        List<Operation> constants = new ArrayList<>();
        List<Operation> others = new ArrayList<>();
        Map<String, List<Operation>> byRows = new HashMap<>();
        Set<String> constant = new HashSet<>();
        Regions regions = Regions.of(function);
        for (Operation operation : function.operations()) {
            boolean isConstant = ConstantExpressions.isConstant(operation);
            (isConstant ? constants : others).add(operation);
            if (isConstant) {
                operation.outputs().forEach(value -> constant.add(value.name()));
            } else if (gathers(operation, constant)) {
                byRows.computeIfAbsent(regions.of(operation), name -> new ArrayList<>())
                        .add(operation);
            }
        }
        List<Operation> ordered = new ArrayList<>(constants);
        for (Operation operation : others) {
            if (!gathers(operation, constant)) {
                ordered.add(operation);
            } else if (byRows.get(regions.of(operation)).getFirst() == operation) {
                ordered.addAll(byRows.get(regions.of(operation)));
            }
        }
        return new Function(function.name(), function.opset(), function.inputs(), ordered, function.outputs());
    }

    private static boolean gathers(Operation operation, Set<String> constant) {
        return operation.kind().equals("linear")
                && operation.inputs().entrySet().stream()
                        .filter(input -> !input.getKey().equals("x"))
                        .flatMap(input -> input.getValue().stream())
                        .allMatch(value -> constant.contains(value.name()));
    }

    /** The rows of a layer, and the region that it must stay in: each guard begins one, each product with a guard ends one. */
    private record Regions(Map<Operation, Integer> numbers) {

        static Regions of(Function function) {
            Map<Operation, Integer> numbers = new IdentityHashMap<>();
            Set<String> guards = new HashSet<>();
            int region = 0;
            for (Operation operation : function.operations()) {
                boolean begins = operation.kind().equals(GuardExperts.GUARD);
                boolean ends = operation.inputs().values().stream()
                        .flatMap(List::stream)
                        .anyMatch(value -> guards.contains(value.name()));
                if (begins) {
                    guards.add(operation.output().name());
                }
                region += begins || ends ? 1 : 0;
                numbers.put(operation, region);
            }
            return new Regions(numbers);
        }

        String of(Operation linear) {
            return linear.input("x").map(Value::name).orElseThrow() + " " + numbers.get(linear);
        }
    }
}
