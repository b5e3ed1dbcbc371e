package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
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
 * Groups {@code rms_norm} of fp16 programs without fp32: a row is divided by its largest number first, so that fp16 holds its
 * squares.
 *
 * <pre>
 * Given   mul(cast(mul(cast(x, "fp32"), rsqrt(reduce_mean(x²), ε)), "fp16"), weight)
 * Result  mul(mul(s, rsqrt(reduce_mean(s²) + ε/m²)), weight), s = x/m, m = max(|x|, 2⁻⁷)
 * </pre>
 */
final class HalfNorms implements FunctionCopy.Change {

    private static final List<String> MEMBERS = List.of("cast", "mul", "reduce_mean", "rsqrt", "mul", "cast", "mul");

    /** A row of smaller numbers is divided by this: what is left of it is small beside ε. */
    private static final double LEAST = 0x1p-7;

    private final FunctionBuilder to;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Map<Operation, List<Operation>> byLast = new HashMap<>();
    private final Set<Operation> inner = new HashSet<>();

    HalfNorms(Function function, FunctionBuilder to) {
        this.to = to;
        Map<String, List<Operation>> groups = new LinkedHashMap<>();
        for (Operation operation : function.operations()) {
            operation
                    .composite()
                    .filter(group -> group.startsWith("rms_norm#"))
                    .ifPresent(group -> groups.computeIfAbsent(group, each -> new ArrayList<>())
                            .add(operation));
            operation
                    .constant()
                    .ifPresent(literal -> literals.put(operation.output().name(), literal));
        }
        for (List<Operation> group : groups.values()) {
            if (group.stream().map(Operation::kind).toList().equals(MEMBERS)
                    && group.getFirst().input("x").orElseThrow().type().dtype() == DType.FP16) {
                byLast.put(group.getLast(), group);
                inner.addAll(group.subList(0, group.size() - 1));
            }
        }
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        if (inner.contains(operation)) {
            return Optional.of(List.of());
        }
        return Optional.ofNullable(byLast.get(operation)).map(group -> List.of(norm(group, copy)));
    }

    private Value norm(List<Operation> group, FunctionCopy copy) {
        String name = group.getLast().output().name();
        Value x = copy.value(group.getFirst().input("x").orElseThrow());
        Value weight = copy.value(group.getLast().input("y").orElseThrow());
        double epsilon = epsilon(group.get(3));
        List<Integer> last = List.of(-1);
        Value most = to.reduce("reduce_max", name + "_most", to.unary("abs", name + "_abs", x), last, true);
        Value bound = to.binary("maximum", name + "_bound", most, half(LEAST));
        Value factor = to.realDiv(name + "_factor", half(1), bound);
        Value scaled = to.mul(name + "_scaled", x, factor);
        Value mean = to.reduceMean(name + "_mean", to.mul(name + "_squares", scaled, scaled), last, true);
        // ε alone would be a subnormal number of fp16, which hardware may take for 0.
        Value ratio = to.realDiv(name + "_ratio", half(LEAST), bound);
        Value added = to.mul(
                name + "_epsilon", to.mul(name + "_ratio_squared", ratio, ratio), half(epsilon / (LEAST * LEAST)));
        // The square of a row's largest number is 1, so that no further epsilon is needed.
        Value root = to.rsqrt(name + "_root", to.add(name + "_sum", mean, added), 0);
        return to.mul(name, to.mul(name + "_normed", scaled, root), weight);
    }

    private double epsilon(Operation rsqrt) {
        Value epsilon = rsqrt.input("epsilon").orElseThrow();
        return literals.get(epsilon.name()) instanceof Literal.Numbers numbers
                ? numbers.values().getFirst()
                : 0;
    }

    private static Literal half(double value) {
        return Literal.scalar(DType.FP16, value);
    }
}
