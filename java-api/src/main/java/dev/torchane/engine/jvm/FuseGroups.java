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
 * Replaces groups, operations with a common {@code composite} attribute in the exact form of docs/architecture.md, by one
 * operation each that only this engine knows. A group in another form is left as it is.
 *
 * <pre>
 * Given:   s = mul(x, x)                     {rms_norm#0}      Result:  y = jvm.rms_norm(x, weight, epsilon)
 *          m = reduce_mean(s, [-1], keep)    {rms_norm#0}
 *          r = rsqrt(m, epsilon)             {rms_norm#0}
 *          n = mul(x, r)                     {rms_norm#0}
 *          y = mul(n, weight)                {rms_norm#0}
 * </pre>
 *
 * Likewise {@code jvm.rope(x, cos, sin)}, {@code jvm.sdpa(query, key, value, mask, scale)} and {@code jvm.swiglu(gate, up)}.
 * Casts inside a group are left out: activations are fp32 here.
 */
final class FuseGroups {

    static final String RMS_NORM = "jvm.rms_norm";
    static final String ROPE = "jvm.rope";
    static final String SDPA = "jvm.sdpa";
    static final String SWIGLU = "jvm.swiglu";

    private final Function function;
    private final Constants constants;
    private final Uses uses;

    private FuseGroups(Function function) {
        this.function = function;
        this.constants = new Constants(function);
        this.uses = new Uses(function);
    }

    static Function apply(Function function) {
        return new FuseGroups(function).apply();
    }

    private Function apply() {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        List<Operation> operations = function.operations();
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            int index = i;
            if (!operation.kind().equals("const")) {
                operation
                        .composite()
                        .ifPresent(group -> groups.computeIfAbsent(group, name -> new ArrayList<>())
                                .add(index));
            }
        }
        Map<Integer, Operation> replaced = new HashMap<>();
        Set<Integer> gone = new HashSet<>();
        groups.forEach((name, members) -> fuse(name, members).ifPresent(fused -> {
            gone.addAll(members);
            // At the last member: all operands are defined by then, and nothing used the result before.
            replaced.put(members.getLast(), fused);
        }));
        List<Operation> result = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            if (replaced.containsKey(i)) {
                result.add(replaced.get(i));
            } else if (!gone.contains(i)) {
                result.add(operations.get(i));
            }
        }
        return new Function(function.name(), function.opset(), function.inputs(), result, function.outputs());
    }

    private Optional<Operation> fuse(String name, List<Integer> members) {
        Members group = new Members(members);
        if (!group.closed()) {
            return Optional.empty();
        }
        return switch (name.substring(0, Math.max(0, name.indexOf('#')))) {
            case "rms_norm" -> rmsNorm(group);
            case "rope" -> rope(group);
            case "sdpa" -> sdpa(group);
            case "swiglu" -> swiglu(group);
            default -> Optional.empty();
        };
    }

    private Optional<Operation> rmsNorm(Members group) {
        if (!group.are("mul", "reduce_mean", "rsqrt", "mul", "mul")) {
            return Optional.empty();
        }
        Operation square = group.at(0);
        Operation mean = group.at(1);
        Operation root = group.at(2);
        Operation normed = group.at(3);
        Operation scaled = group.at(4);
        Value x = group.source(operand(square, "x"));
        Value epsilon = root.input("epsilon").orElse(null);
        Optional<Value> weight = other(scaled, normed.output(), group);
        boolean matches = x.equals(group.source(operand(square, "y")))
                && group.uses(mean, square)
                && lastAxis(mean, x)
                && constants.flag(mean, "keep_dims", false)
                && group.uses(root, mean)
                && epsilon != null
                && other(normed, root.output(), group)
                        .map(group::source)
                        .filter(x::equals)
                        .isPresent()
                && weight.isPresent()
                && weight.get().type().elements() == x.type().axis(-1);
        if (!matches) {
            return Optional.empty();
        }
        return Optional.of(fused(RMS_NORM, scaled, Map.of("x", x, "weight", weight.get(), "epsilon", epsilon)));
    }

    private boolean lastAxis(Operation reduce, Value x) {
        return constants
                .ints(reduce, "axes")
                .filter(axes -> axes.length == 1
                        && Math.floorMod(axes[0], x.type().rank()) == x.type().rank() - 1)
                .isPresent();
    }

    private Optional<Operation> rope(Members group) {
        if (!group.are("slice_by_index", "slice_by_index", "mul", "concat", "mul", "mul", "add")) {
            return Optional.empty();
        }
        Operation first = group.at(0);
        Operation second = group.at(1);
        Operation negated = group.at(2);
        Operation rotated = group.at(3);
        Operation cosine = group.at(4);
        Operation sine = group.at(5);
        Operation sum = group.at(6);
        Value x = operand(first, "x");
        int rank = x.type().rank();
        int half = x.type().axis(-1) / 2;
        List<Value> parts = rotated.inputs().getOrDefault("values", List.of());
        Optional<Value> cos = other(cosine, x, group);
        Optional<Value> sin = other(sine, rotated.output(), group);
        boolean matches = rank == 4
                && x.equals(operand(second, "x"))
                && startsAt(first, 0)
                && first.output().type().axis(-1) == half
                && startsAt(second, half)
                && second.output().type().axis(-1) == half
                && factor(negated, second.output()).filter(value -> value == -1).isPresent()
                && parts.equals(List.of(negated.output(), first.output()))
                && cos.filter(value -> rows(value, x)).isPresent()
                && sin.filter(value -> rows(value, x)).isPresent()
                && group.uses(sum, cosine)
                && group.uses(sum, sine);
        if (!matches) {
            return Optional.empty();
        }
        return Optional.of(fused(ROPE, sum, Map.of("x", x, "cos", cos.get(), "sin", sin.get())));
    }

    /** Whether a value has one row of x's width for each row of x, the same for all heads. */
    private static boolean rows(Value value, Value x) {
        int rank = value.type().rank();
        return value.type().elements() == (long) x.type().axis(-1) * x.type().axis(-2)
                && rank >= 2
                && value.type().axis(-1) == x.type().axis(-1)
                && value.type().axis(-2) == x.type().axis(-2)
                && x.type().axis(0) == 1;
    }

    private boolean startsAt(Operation slice, int last) {
        int[] begin = constants.ints(slice, "begin").orElse(new int[0]);
        for (int axis = 0; axis < begin.length - 1; axis++) {
            if (begin[axis] != 0) {
                return false;
            }
        }
        return begin.length > 0
                && begin[begin.length - 1] == last
                && !slice.inputs().containsKey("begin_mask");
    }

    private Optional<Operation> sdpa(Members group) {
        if (!group.are("mul", "matmul", "add", "softmax", "matmul")) {
            return Optional.empty();
        }
        Operation scaled = group.at(0);
        Operation scores = group.at(1);
        Operation masked = group.at(2);
        Operation weights = group.at(3);
        Operation mixed = group.at(4);
        Value query = constants.literal(operand(scaled, "x")).isPresent() ? operand(scaled, "y") : operand(scaled, "x");
        Optional<Value> scale = other(scaled, query, group);
        Value key = group.source(operand(scores, "y"));
        Value value = group.source(operand(mixed, "y"));
        Optional<Value> mask = other(masked, scores.output(), group);
        Operation last = group.last();
        boolean matches = scale.flatMap(constants::literal).isPresent()
                && scale.get().type().elements() == 1
                && group.source(operand(scores, "x")).equals(scaled.output())
                && !constants.flag(scores, "transpose_x", false)
                && constants.flag(scores, "transpose_y", false)
                && mask.isPresent()
                && group.uses(weights, masked)
                && softmaxOverLast(weights)
                && group.source(operand(mixed, "x")).equals(weights.output())
                && !constants.flag(mixed, "transpose_x", false)
                && !constants.flag(mixed, "transpose_y", false)
                && (last == mixed || group.source(last.output()).equals(mixed.output()))
                && attentionShapes(query, key, value, mask.get(), last.output());
        if (!matches) {
            return Optional.empty();
        }
        return Optional.of(fused(
                SDPA,
                last,
                Map.of("query", query, "key", key, "value", value, "mask", mask.get(), "scale", scale.get())));
    }

    private boolean softmaxOverLast(Operation softmax) {
        int axis = (int) constants.number(softmax, "axis", -1);
        return Math.floorMod(axis, softmax.output().type().rank())
                == softmax.output().type().rank() - 1;
    }

    /** Query and result [1, H, Q, D], key and value [1, kv, M, D] with kv dividing H, mask of Q × M elements. */
    private static boolean attentionShapes(Value query, Value key, Value value, Value mask, Value result) {
        return query.type().rank() == 4
                && key.type().rank() == 4
                && query.type().axis(0) == 1
                && key.type().axis(0) == 1
                && key.type().shape().equals(value.type().shape())
                && result.type().shape().equals(query.type().shape())
                && query.type().axis(1) % key.type().axis(1) == 0
                && query.type().axis(3) == key.type().axis(3)
                && mask.type().rank() >= 2
                && mask.type().axis(-1) == key.type().axis(2)
                && mask.type().axis(-2) == query.type().axis(2)
                && mask.type().elements()
                        == (long) query.type().axis(2) * key.type().axis(2);
    }

    private Optional<Operation> swiglu(Members group) {
        if (!group.are("silu", "mul")) {
            return Optional.empty();
        }
        Operation act = group.at(0);
        Operation product = group.at(1);
        Value gate = operand(act, "x");
        Optional<Value> up = other(product, act.output(), group);
        if (up.isEmpty() || !up.get().type().shape().equals(gate.type().shape())) {
            return Optional.empty();
        }
        return Optional.of(fused(SWIGLU, product, Map.of("gate", gate, "up", up.get())));
    }

    /** The operand of a commutative operation that is not {@code one}, if {@code one} is the other. */
    private static Optional<Value> other(Operation operation, Value one, Members group) {
        Value x = operand(operation, "x");
        Value y = operand(operation, "y");
        if (group.source(x).equals(group.source(one))) {
            return Optional.of(y);
        }
        return group.source(y).equals(group.source(one)) ? Optional.of(x) : Optional.empty();
    }

    /** The constant that a value is multiplied with. */
    private Optional<Double> factor(Operation multiply, Value value) {
        if (operand(multiply, "x").equals(value)) {
            return constants.numbers(multiply, "y").map(List::getFirst);
        }
        return operand(multiply, "y").equals(value)
                ? constants.numbers(multiply, "x").map(List::getFirst)
                : Optional.empty();
    }

    private static Value operand(Operation operation, String parameter) {
        return operation.input(parameter).orElseThrow();
    }

    private static Operation fused(String kind, Operation last, Map<String, Value> operands) {
        Map<String, List<Value>> inputs = new LinkedHashMap<>();
        List<String> order =
                List.of("x", "query", "key", "value", "gate", "up", "weight", "cos", "sin", "mask", "epsilon", "scale");
        for (String parameter : order) {
            if (operands.containsKey(parameter)) {
                inputs.put(parameter, List.of(operands.get(parameter)));
            }
        }
        return new Operation(
                kind,
                inputs,
                last.outputs(),
                Map.of("name", new Literal.Text(last.output().name())));
    }

    /** The operations of one group; casts and changes of shape only are looked through. */
    private final class Members {

        private static final Set<String> TRANSPARENT = Set.of("cast", "reshape", "expand_dims", "squeeze");

        private final List<Operation> core = new ArrayList<>();
        private final Map<String, Value> sources = new HashMap<>();
        private final List<Integer> indices;

        Members(List<Integer> indices) {
            this.indices = indices;
            for (int index : indices) {
                Operation operation = function.operations().get(index);
                if (TRANSPARENT.contains(operation.kind())) {
                    sources.put(operation.output().name(), source(operand(operation, "x")));
                } else {
                    core.add(operation);
                }
            }
        }

        /** What a value is but for casts and shapes inside the group. */
        Value source(Value value) {
            return sources.getOrDefault(value.name(), value);
        }

        Operation at(int index) {
            return core.get(index);
        }

        Operation last() {
            return function.operations().get(indices.getLast());
        }

        boolean are(String... kinds) {
            return core.stream().map(Operation::kind).toList().equals(List.of(kinds));
        }

        /** Whether an operation has the result of another among its operands. */
        boolean uses(Operation operation, Operation other) {
            return operation.inputs().values().stream()
                    .flatMap(List::stream)
                    .anyMatch(value -> source(value).equals(source(other.output())));
        }

        /** Whether only the last result is used outside. */
        boolean closed() {
            for (int index : indices.subList(0, indices.size() - 1)) {
                for (Value value : function.operations().get(index).outputs()) {
                    if (uses.isOutput(value) || !indices.containsAll(uses.of(value))) {
                        return false;
                    }
                }
            }
            return true;
        }
    }
}
