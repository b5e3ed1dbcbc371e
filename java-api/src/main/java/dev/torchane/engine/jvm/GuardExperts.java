package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Marks what is computed for a product with a share of each row, so that it can be left out in a call in which every share is zero: an expert
 * that no row has chosen.
 *
 * <pre>
 * Given:   a = linear(x, w)              Result:  s = …
 *          p = linear(silu(a), v)                 g = jvm.guard(s)
 *          s = …                     [rows, 1]    a = linear(x, w)
 *          y = mul(p, s)                          p = linear(silu(a), v)
 *                                                 y = mul(p, g)
 * </pre>
 *
 * What else uses those values keeps them where they are.
 */
final class GuardExperts {

    static final String GUARD = "jvm.guard";

    private final Function function;
    private final Uses uses;
    private final Map<String, Integer> made = new HashMap<>();
    private final Set<String> constants = new HashSet<>();

    private GuardExperts(Function function) {
        this.function = function;
        this.uses = new Uses(function);
        List<Operation> operations = function.operations();
        for (int i = 0; i < operations.size(); i++) {
            int index = i;
            Operation operation = operations.get(i);
            operation.outputs().forEach(value -> made.put(value.name(), index));
            if (ConstantExpressions.isConstant(operation)) {
                operation.outputs().forEach(value -> constants.add(value.name()));
            }
        }
    }

    static Function apply(Function function) {
        return new GuardExperts(function).apply();
    }

    private Function apply() {
        List<Operation> operations = function.operations();
        Map<Integer, BitSet> regions = new TreeMap<>();
        BitSet moved = new BitSet();
        for (int i = 0; i < operations.size(); i++) {
            BitSet region = region(i);
            if (!region.isEmpty() && !region.intersects(moved)) {
                regions.put(i, region);
                moved.or(region);
            }
        }
        if (regions.isEmpty()) {
            return function;
        }
        List<Operation> ordered = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            if (regions.containsKey(i)) {
                Value share = share(operation);
                Value guard = new Value(operation.output().name() + ".guard", share.type());
                ordered.add(new Operation(GUARD, Map.of("x", List.of(share)), List.of(guard), Map.of()));
                regions.get(i).stream().mapToObj(operations::get).forEach(ordered::add);
                Map<String, List<Value>> inputs = new HashMap<>(operation.inputs());
                inputs.replaceAll((_, values) -> values.equals(List.of(share)) ? List.of(guard) : values);
                ordered.add(new Operation("mul", inputs, operation.outputs(), operation.attributes()));
            } else if (!moved.get(i)) {
                ordered.add(operation);
            }
        }
        return new Function(function.name(), function.opset(), function.inputs(), ordered, function.outputs());
    }

    /** The operations that only this one needs, if it is a product of a linear layer with shares of its rows; else none. */
    private BitSet region(int product) {
        BitSet region = new BitSet();
        Operation mul = function.operations().get(product);
        Value share = mul.kind().equals("mul") ? share(mul) : null;
        if (share == null) {
            return region;
        }
        region.set(product);
        TreeSet<Integer> candidates = new TreeSet<>();
        Value part = mul.input("x").orElseThrow().equals(share)
                ? mul.input("y").orElseThrow()
                : mul.input("x").orElseThrow();
        candidates.add(made.get(part.name()));
        while (!candidates.isEmpty()) {
            int index = candidates.pollLast();
            Operation operation = function.operations().get(index);
            boolean within = !constants.contains(operation.output().name())
                    && index != made.get(share.name())
                    && operation.outputs().stream()
                            .noneMatch(value -> uses.isOutput(value)
                                    || uses.of(value).stream().anyMatch(use -> !region.get(use)));
            if (within) {
                region.set(index);
                operation
                        .inputs()
                        .values()
                        .forEach(values -> values.forEach(value -> {
                            if (made.containsKey(value.name())) {
                                candidates.add(made.get(value.name()));
                            }
                        }));
            }
        }
        region.clear(product);
        return region;
    }

    /** The factor of a linear layer's result that has one number for each row; null when there is none. */
    private Value share(Operation mul) {
        Value x = mul.input("x").orElseThrow();
        Value y = mul.input("y").orElseThrow();
        return shares(x, y) ? y : shares(y, x) ? x : null;
    }

    private boolean shares(Value part, Value share) {
        int rank = part.type().rank();
        Integer index = made.get(part.name());
        return rank > 0
                && share.type().rank() == rank
                && !constants.contains(share.name())
                && made.containsKey(share.name())
                && share.type().axis(rank - 1) == 1
                && part.type().axis(rank - 1) > 1
                && share.type().elements() * part.type().axis(rank - 1)
                        == part.type().elements()
                && index != null
                && function.operations().get(index).kind().equals("linear")
                && uses.of(part).size() == 1
                && !uses.isOutput(part);
    }
}
