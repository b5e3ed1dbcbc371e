package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Reductions over axes, each in the order of the elements. */
final class Reductions {

    /** Folds the elements of one reduction: start, then each element, then the end. Sums are kept in fp64. */
    private record Fold(double start, Accumulate step, Finish end) {}

    private interface Accumulate {
        double apply(double sum, float x);
    }

    private interface Finish {
        double apply(double sum, int count);
    }

    private Reductions() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        fold(table, "reduce_sum", new Fold(0, (s, x) -> s + x, (s, n) -> s));
        fold(table, "reduce_mean", new Fold(0, (s, x) -> s + x, (s, n) -> s / n));
        fold(table, "reduce_prod", new Fold(1, (s, x) -> s * x, (s, n) -> s));
        fold(table, "reduce_sum_square", new Fold(0, (s, x) -> s + (double) x * x, (s, n) -> s));
        fold(table, "reduce_l1_norm", new Fold(0, (s, x) -> s + Math.abs(x), (s, n) -> s));
        fold(table, "reduce_l2_norm", new Fold(0, (s, x) -> s + (double) x * x, (s, n) -> Math.sqrt(s)));
        fold(table, "reduce_log_sum", new Fold(0, (s, x) -> s + x, (s, n) -> Math.log(s)));
        fold(table, "reduce_max", new Fold(Double.NEGATIVE_INFINITY, (s, x) -> Math.max(s, x), (s, n) -> s));
        fold(table, "reduce_min", new Fold(Double.POSITIVE_INFINITY, (s, x) -> Math.min(s, x), (s, n) -> s));
        table.put("reduce_log_sum_exp", Reductions::logSumExp);
        table.put("reduce_argmax", context -> extreme(context, true));
        table.put("reduce_argmin", context -> extreme(context, false));
        table.put("cumsum", Reductions::cumulate);
    }

    private static void fold(Map<String, Consumer<OpContext>> table, String kind, Fold fold) {
        table.put(kind, context -> {
            Operand x = context.in("x");
            Operand out = context.out();
            Plan plan = Plan.of(context, x);
            context.step(call -> {
                float[] in = x.array(call);
                float[] to = out.array(call);
                for (int i = 0; i < plan.outer; i++) {
                    double sum = fold.start;
                    int at = x.offset() + plan.outerAt[i];
                    for (int j = 0; j < plan.inner; j++) {
                        sum = fold.step.apply(sum, in[at + plan.innerAt[j]]);
                    }
                    to[out.offset() + i] = (float) fold.end.apply(sum, plan.inner);
                }
            });
        });
    }

    /** Where the elements of each reduction lie: {@code outerAt[i] + innerAt[j]} is element j of result i. */
    private record Plan(int outer, int[] outerAt, int inner, int[] innerAt) {

        static Plan of(OpContext context, Operand x) {
            int[] shape = x.shape();
            boolean[] reduced = new boolean[shape.length];
            if (context.has("axes")) {
                for (int axis : context.ints("axes")) {
                    reduced[Math.floorMod(axis, shape.length)] = true;
                }
            } else {
                java.util.Arrays.fill(reduced, true);
            }
            int[] inner = offsets(shape, reduced, true);
            int[] outer = offsets(shape, reduced, false);
            return new Plan(outer.length, outer, inner.length, inner);
        }

        private static int[] offsets(int[] shape, boolean[] reduced, boolean wanted) {
            int[] offsets = {0};
            int[] strides = Strides.of(shape);
            for (int axis = 0; axis < shape.length; axis++) {
                if (reduced[axis] == wanted) {
                    int[] more = new int[offsets.length * shape[axis]];
                    for (int i = 0; i < more.length; i++) {
                        more[i] = offsets[i / shape[axis]] + i % shape[axis] * strides[axis];
                    }
                    offsets = more;
                }
            }
            return offsets;
        }
    }

    private static void logSumExp(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        Plan plan = Plan.of(context, x);
        context.step(call -> {
            float[] in = x.array(call);
            for (int i = 0; i < plan.outer; i++) {
                int at = x.offset() + plan.outerAt[i];
                double max = Double.NEGATIVE_INFINITY;
                for (int j = 0; j < plan.inner; j++) {
                    max = Math.max(max, in[at + plan.innerAt[j]]);
                }
                double sum = 0;
                for (int j = 0; j < plan.inner; j++) {
                    sum += Math.exp(in[at + plan.innerAt[j]] - max);
                }
                out.array(call)[out.offset() + i] = (float) (Double.isInfinite(max) ? max : max + Math.log(sum));
            }
        });
    }

    private static void extreme(OpContext context, boolean largest) {
        Operand x = context.in("x");
        Operand out = context.out();
        int axis = context.axis("axis", -1, x.type().rank());
        int[] shape = x.shape();
        int size = shape[axis];
        int inner = Strides.elements(shape, axis + 1, shape.length);
        context.step(call -> {
            float[] in = x.array(call);
            for (int i = 0; i < out.size(); i++) {
                int at = x.offset() + i / inner * inner * size + i % inner;
                int best = 0;
                for (int j = 1; j < size; j++) {
                    float value = in[at + j * inner];
                    float record = in[at + best * inner];
                    if (largest ? value > record : value < record) {
                        best = j;
                    }
                }
                out.array(call)[out.offset() + i] = best;
            }
        });
    }

    private static void cumulate(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int axis = context.axis("axis", 0, x.type().rank());
        boolean exclusive = context.flag("exclusive", false);
        boolean reverse = context.flag("reverse", false);
        int[] shape = x.shape();
        int size = shape[axis];
        int inner = Strides.elements(shape, axis + 1, shape.length);
        context.step(call -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            for (int i = 0; i < out.size() / Math.max(1, size); i++) {
                int base = i / inner * inner * size + i % inner;
                double sum = 0;
                for (int j = 0; j < size; j++) {
                    int at = base + (reverse ? size - 1 - j : j) * inner;
                    double before = sum;
                    sum += in[x.offset() + at];
                    to[out.offset() + at] = (float) (exclusive ? before : sum);
                }
            }
        });
    }
}
