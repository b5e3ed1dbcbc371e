package dev.torchane.engine.jvm;

import dev.torchane.engine.jvm.RowSpecializer.NotFollowed;
import dev.torchane.engine.jvm.RowSpecializer.Step;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** How the rows' axis goes through each operation. */
final class RowRules {

    interface Rule {
        void rewrite(Step step) throws NotFollowed;
    }

    private static final Map<String, Rule> RULES = rules();

    private RowRules() {}

    /** The rule of an operation, or null. */
    static Rule rule(String kind) {
        return RULES.get(kind);
    }

    private static Map<String, Rule> rules() {
        Map<String, Rule> rules = new HashMap<>();
        for (String kind : List.of(
                "abs",
                "acos",
                "asin",
                "atan",
                "atanh",
                "ceil",
                "cos",
                "cosh",
                "erf",
                "exp",
                "exp2",
                "floor",
                "inverse",
                "log",
                "logical_not",
                "round",
                "rsqrt",
                "sign",
                "sin",
                "sinh",
                "sqrt",
                "square",
                "tan",
                "tanh",
                "relu",
                "relu6",
                "sigmoid",
                "silu",
                "softplus",
                "softsign",
                "gelu",
                "clip",
                "clamped_relu",
                "elu",
                "leaky_relu",
                "linear_activation",
                "scaled_tanh",
                "sigmoid_hard",
                "threshold",
                "thresholded_relu")) {
            rules.put(kind, step -> step.result(step.axis("x")));
        }
        for (String kind : List.of("cast", "identity")) {
            rules.put(kind, step -> keep(step, step.axis("x")));
        }
        for (String kind : List.of(
                "add",
                "sub",
                "maximum",
                "minimum",
                "pow",
                "real_div",
                "floor_div",
                "mod",
                "equal",
                "not_equal",
                "less",
                "less_equal",
                "greater",
                "greater_equal",
                "logical_and",
                "logical_or",
                "logical_xor")) {
            rules.put(kind, step -> step.result(broadcast(step, "x", "y")));
        }
        rules.put("mul", step -> {
            OptionalInt axis = broadcast(step, "x", "y");
            if (step.isPick("x") || step.isPick("y")) {
                step.picked();
            }
            step.result(axis);
        });
        rules.put("select", step -> step.result(broadcast(step, "cond", "a", "b")));
        rules.put("linear", RowRules::linear);
        rules.put("matmul", RowRules::matmul);
        rules.put("softmax", RowRules::alongAxis);
        rules.put("topk", RowRules::alongAxis);
        rules.put("layer_norm", RowRules::alongAxes);
        for (String kind : List.of("reduce_mean", "reduce_max", "reduce_min", "reduce_sum", "reduce_sum_square")) {
            rules.put(kind, RowRules::reduce);
        }
        rules.put("reshape", RowRules::reshape);
        rules.put("transpose", RowRules::transpose);
        rules.put("expand_dims", RowRules::expandDims);
        rules.put("squeeze", RowRules::squeeze);
        rules.put("concat", RowRules::concat);
        rules.put("split", RowRules::split);
        rules.put("slice_by_index", RowRules::sliceByIndex);
        rules.put("slice_update", RowRules::sliceUpdate);
        rules.put("tile", RowRules::tile);
        rules.put("conv", RowRules::conv);
        return Map.copyOf(rules);
    }

    /** Same shape in and out: a pick stays a pick. */
    private static void keep(Step step, OptionalInt axis) {
        if (step.isPick("x")) {
            step.picked();
        }
        step.result(axis);
    }

    private static OptionalInt broadcast(Step step, String... parameters) throws NotFollowed {
        int rank = step.operation().output().type().rank();
        OptionalInt axis = OptionalInt.empty();
        for (String parameter : parameters) {
            OptionalInt own = step.axis(parameter);
            if (own.isPresent()) {
                int aligned = own.getAsInt() + rank - step.type(parameter).rank();
                if (axis.isPresent() && axis.getAsInt() != aligned) {
                    throw step.fail("operands have their rows along different axes");
                }
                axis = OptionalInt.of(aligned);
            }
        }
        for (String parameter : parameters) {
            TensorType type = step.type(parameter);
            int own = axis.orElseThrow() - rank + type.rank();
            if (step.axis(parameter).isEmpty() && own >= 0 && type.axis(own) != 1) {
                throw step.fail("'" + parameter + "' has all rows");
            }
        }
        return axis;
    }

    private static void linear(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow(() -> step.fail("the weight has rows"));
        if (axis == step.type("x").rank() - 1) {
            throw step.fail("the rows are summed over");
        }
        step.result(OptionalInt.of(axis));
    }

    private static void matmul(Step step) throws NotFollowed {
        int rank = step.operation().output().type().rank();
        TensorType x = step.type("x");
        TensorType y = step.type("y");
        if (x.rank() < 2 || y.rank() < 2) {
            throw step.fail("a vector operand");
        }
        OptionalInt inX = step.axis("x");
        OptionalInt inY = step.axis("y");
        int xSum = x.rank() - (step.constants().flag(step.operation(), "transpose_x", false) ? 2 : 1);
        int ySum = y.rank() - (step.constants().flag(step.operation(), "transpose_y", false) ? 1 : 2);
        if (inX.isPresent() && inX.getAsInt() == xSum) {
            if (inY.isEmpty() || inY.getAsInt() != ySum || !(step.isPick("x") || step.isPick("y"))) {
                throw step.fail("the rows are summed over");
            }
            step.result(OptionalInt.empty());
            return;
        }
        if (inY.isPresent() && inY.getAsInt() == ySum) {
            throw step.fail("the rows are summed over");
        }
        OptionalInt left = place(inX, x, xSum, rank, rank - 2);
        OptionalInt right = place(inY, y, ySum, rank, rank - 1);
        if (left.isPresent() && right.isPresent() && left.getAsInt() != right.getAsInt()) {
            throw step.fail("operands have their rows along different axes");
        }
        int axis = left.orElseGet(right::getAsInt);
        if (axis < rank - 2) {
            requireBroadcast(step, left, x, axis - rank + x.rank());
            requireBroadcast(step, right, y, axis - rank + y.rank());
        }
        step.result(OptionalInt.of(axis));
    }

    private static OptionalInt place(OptionalInt own, TensorType type, int sum, int rank, int matrixAxis) {
        if (own.isEmpty()) {
            return own;
        }
        boolean batch = own.getAsInt() < type.rank() - 2;
        return OptionalInt.of(batch ? own.getAsInt() + rank - type.rank() : matrixAxis);
    }

    private static void requireBroadcast(Step step, OptionalInt own, TensorType type, int axis) throws NotFollowed {
        if (own.isEmpty() && axis >= 0 && type.axis(axis) != 1) {
            throw step.fail("an operand has all rows");
        }
    }

    private static void alongAxis(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow(() -> step.fail("a parameter has rows"));
        int along = (int) step.constants().number(step.operation(), "axis", -1);
        if (Math.floorMod(along, step.type("x").rank()) == axis) {
            throw step.fail("it goes along the rows");
        }
        step.result(OptionalInt.of(axis));
    }

    private static void alongAxes(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow(() -> step.fail("a parameter has rows"));
        int rank = step.type("x").rank();
        for (int along : step.constants().ints(step.operation(), "axes").orElse(new int[] {-1})) {
            if (Math.floorMod(along, rank) == axis) {
                throw step.fail("it goes along the rows");
            }
        }
        step.result(OptionalInt.of(axis));
    }

    private static void reduce(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int rank = step.type("x").rank();
        boolean keep = step.constants().flag(step.operation(), "keep_dims", false);
        int[] over =
                step.constants().ints(step.operation(), "axes").orElseThrow(() -> step.fail("it goes over all axes"));
        int before = 0;
        for (int one : over) {
            int reduced = Math.floorMod(one, rank);
            if (reduced == axis) {
                if (!step.operation().kind().startsWith("reduce_sum") || !step.isPick("x")) {
                    throw step.fail("it goes over the rows");
                }
                step.result(OptionalInt.empty());
                return;
            }
            before += reduced < axis ? 1 : 0;
        }
        step.result(OptionalInt.of(keep ? axis : axis - before));
    }

    private static void reshape(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        TensorType from = step.type("x");
        TensorType to = step.operation().output().type();
        long before = 1;
        for (int i = 0; i < axis; i++) {
            before *= from.axis(i);
        }
        long product = 1;
        for (int i = 0; i < to.rank(); i++) {
            if (product == before && to.axis(i) == step.rows()) {
                step.replace("shape", i, step.count());
                keep(step, OptionalInt.of(i));
                return;
            }
            product *= to.axis(i);
        }
        throw step.fail("the rows are merged with other elements");
    }

    private static void transpose(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int rank = step.type("x").rank();
        int[] perm = step.constants().ints(step.operation(), "perm").orElseThrow(() -> step.fail("a computed perm"));
        for (int i = 0; i < perm.length; i++) {
            if (Math.floorMod(perm[i], rank) == axis) {
                keep(step, OptionalInt.of(i));
            }
        }
    }

    private static void expandDims(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int rank = step.operation().output().type().rank();
        boolean[] added = new boolean[rank];
        for (int one : step.constants().ints(step.operation(), "axes").orElseThrow(() -> step.fail("computed axes"))) {
            added[Math.floorMod(one, rank)] = true;
        }
        int old = 0;
        for (int i = 0; i < rank; i++) {
            if (!added[i] && old++ == axis) {
                keep(step, OptionalInt.of(i));
            }
        }
    }

    private static void squeeze(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        TensorType type = step.type("x");
        int[] axes = step.constants().ints(step.operation(), "axes").orElse(null);
        int before = 0;
        for (int i = 0; i < type.rank(); i++) {
            boolean removed = axes == null ? type.axis(i) == 1 : contains(axes, i, type.rank());
            if (removed && i == axis) {
                throw step.fail("the rows' axis is removed");
            }
            before += removed && i < axis ? 1 : 0;
        }
        keep(step, OptionalInt.of(axis - before));
    }

    private static boolean contains(int[] axes, int axis, int rank) {
        for (int one : axes) {
            if (Math.floorMod(one, rank) == axis) {
                return true;
            }
        }
        return false;
    }

    private static void concat(Step step) throws NotFollowed {
        OptionalInt axis = OptionalInt.empty();
        List<Value> values = step.operation().inputs().get("values");
        for (Value value : values) {
            OptionalInt own = step.axis(value);
            if (own.isEmpty() || (axis.isPresent() && !axis.equals(own))) {
                throw step.fail("not all values have the rows along one axis");
            }
            axis = own;
        }
        int along = (int) step.constants().number(step.operation(), "axis", 0);
        if (Math.floorMod(along, values.getFirst().type().rank()) == axis.orElseThrow()) {
            throw step.fail("it goes along the rows");
        }
        step.result(axis);
    }

    private static void split(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int along = (int) step.constants().number(step.operation(), "axis", 0);
        if (Math.floorMod(along, step.type("x").rank()) == axis) {
            throw step.fail("it goes along the rows");
        }
        step.result(OptionalInt.of(axis));
    }

    private static void sliceByIndex(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int rank = step.type("x").rank();
        int[] begin = step.constants().ints(step.operation(), "begin").orElseThrow(() -> step.fail("a computed begin"));
        int[] end = step.constants().ints(step.operation(), "end").orElseThrow(() -> step.fail("a computed end"));
        int[] stride = step.constants()
                .ints(step.operation(), "stride")
                .orElseGet(() -> Collections.nCopies(rank, 1).stream()
                        .mapToInt(Integer::intValue)
                        .toArray());
        boolean fromStart = flag(step, "begin_mask", axis) || begin[axis] == 0 || begin[axis] == -step.rows();
        boolean toEnd = flag(step, "end_mask", axis) || end[axis] >= step.rows();
        if (!fromStart || !toEnd || stride[axis] != 1 || flag(step, "squeeze_mask", axis)) {
            throw step.fail("the rows are cut");
        }
        if (!flag(step, "end_mask", axis)) {
            step.replace("end", axis, step.count());
        }
        int before = 0;
        for (int i = 0; i < axis; i++) {
            before += flag(step, "squeeze_mask", i) ? 1 : 0;
        }
        step.result(OptionalInt.of(axis - before));
    }

    private static boolean flag(Step step, String mask, int axis) {
        return step.constants()
                .ints(step.operation(), mask)
                .filter(flags -> flags[axis] != 0)
                .isPresent();
    }

    private static void sliceUpdate(Step step) throws NotFollowed {
        if (step.axis("x").isPresent() || step.axis("begin").isPresent()) {
            throw step.fail("the updated value has rows");
        }
        int axis = step.axis("update").orElseThrow();
        for (String parameter : List.of("stride", "begin_mask", "end_mask", "squeeze_mask")) {
            if (step.operation().inputs().containsKey(parameter)) {
                throw step.fail("it has a " + parameter);
            }
        }
        step.move(axis, step.type("update"));
        step.result(OptionalInt.empty());
    }

    private static void tile(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow();
        int[] reps = step.constants().ints(step.operation(), "reps").orElseThrow(() -> step.fail("computed reps"));
        if (reps[axis] != 1) {
            throw step.fail("the rows are repeated");
        }
        step.result(OptionalInt.of(axis));
    }

    /** Rows along an image axis of a convolution whose kernel has size 1 there. */
    private static void conv(Step step) throws NotFollowed {
        int axis = step.axis("x").orElseThrow(() -> step.fail("the weight has rows"));
        TensorType weight = step.type("weight");
        if (axis < 2 || weight.axis(axis) != 1 || !ones(step, "strides", axis - 2) || !noPad(step, axis - 2)) {
            throw step.fail("it mixes rows");
        }
        step.result(OptionalInt.of(axis));
    }

    private static boolean ones(Step step, String parameter, int index) {
        return step.constants()
                .ints(step.operation(), parameter)
                .map(values -> values[index] == 1)
                .orElse(true);
    }

    private static boolean noPad(Step step, int index) {
        return step.constants()
                .ints(step.operation(), "pad")
                .map(values -> values[2 * index] == 0 && values[2 * index + 1] == 0)
                .orElse(true);
    }
}
