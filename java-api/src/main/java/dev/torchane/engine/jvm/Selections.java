package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Operations that pick or place elements by index. */
final class Selections {

    private Selections() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("gather", Selections::gather);
        table.put("gather_along_axis", Selections::gatherAlongAxis);
        table.put("scatter_along_axis", Selections::scatterAlongAxis);
        table.put("topk", Selections::topk);
        table.put("argsort", Selections::argsort);
        table.put("one_hot", Selections::oneHot);
        table.put("range_1d", Selections::range);
        table.put("band_part", Selections::bandPart);
    }

    private static int index(float value, int size, String what) {
        int index = (int) value;
        int resolved = index < 0 ? index + size : index;
        if (resolved < 0 || resolved >= size) {
            throw new IllegalArgumentException(what + " has index " + index + " for an axis of " + size);
        }
        return resolved;
    }

    /** Rows of an axis by index; leading {@code batch_dims} axes go in step with the indices'. */
    private static void gather(OpContext context) {
        Operand x = context.in("x");
        Operand indices = context.in("indices");
        Operand out = context.out();
        int[] shape = x.shape();
        int batchDims = context.integer("batch_dims", 0);
        int axis = context.axis("axis", 0, shape.length);
        int batches = Strides.elements(shape, 0, batchDims);
        int outer = Strides.elements(shape, batchDims, axis);
        int size = shape[axis];
        int inner = Strides.elements(shape, axis + 1, shape.length);
        int each = indices.size() / Math.max(1, batches);
        String what = context.describe();
        context.step(call -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            float[] at = indices.array(call);
            for (int b = 0; b < batches; b++) {
                for (int o = 0; o < outer; o++) {
                    int block = b * outer + o;
                    for (int i = 0; i < each; i++) {
                        int row = index(at[indices.offset() + b * each + i], size, what);
                        System.arraycopy(
                                in,
                                x.offset() + (block * size + row) * inner,
                                to,
                                out.offset() + (block * each + i) * inner,
                                inner);
                    }
                }
            }
        });
    }

    private static void gatherAlongAxis(OpContext context) {
        Operand x = context.in("x");
        Operand indices = context.in("indices");
        Operand out = context.out();
        int[] shape = x.shape();
        int axis = context.axis("axis", 0, shape.length);
        int inner = Strides.elements(shape, axis + 1, shape.length);
        int size = shape[axis];
        int picked = indices.type().axis(axis);
        String what = context.describe();
        context.step(call -> {
            for (int i = 0; i < out.size(); i++) {
                int row = index(indices.array(call)[indices.offset() + i], size, what);
                int outer = i / inner / picked;
                out.array(call)[out.offset() + i] =
                        x.array(call)[x.offset() + (outer * size + row) * inner + i % inner];
            }
        });
    }

    /** {@code data} with updates put, or added, where their indices say along an axis; one after the other in their order. */
    private static void scatterAlongAxis(OpContext context) {
        Operand data = context.in("data");
        Operand indices = context.in("indices");
        Operand updates = context.in("updates");
        Operand out = context.out();
        int[] shape = data.shape();
        int axis = context.axis("axis", 0, shape.length);
        int inner = Strides.elements(shape, axis + 1, shape.length);
        int size = shape[axis];
        int given = indices.type().axis(axis);
        String mode = context.text("mode", "add");
        if (!mode.equals("add") && !mode.equals("update")) {
            throw new TorchAneException(context.describe() + " has the mode '" + mode + "'; it can be add or update");
        }
        String what = context.describe();
        context.step(call -> {
            float[] to = out.array(call);
            System.arraycopy(data.array(call), data.offset(), to, out.offset(), out.size());
            for (int i = 0; i < updates.size(); i++) {
                int row = index(indices.array(call)[indices.offset() + i], size, what);
                int at = out.offset() + (i / inner / given * size + row) * inner + i % inner;
                float update = updates.array(call)[updates.offset() + i];
                to[at] = mode.equals("add") ? to[at] + update : update;
            }
        });
    }

    private static void topk(OpContext context) {
        int k = context.integer("k", 1);
        sorted(context, k, context.flag("ascending", false), context.results().size() > 1);
    }

    private static void argsort(OpContext context) {
        int axis = context.axis("axis", -1, context.type("x").rank());
        sorted(context, context.type("x").axis(axis), context.flag("ascending", false), false);
    }

    /** The first {@code k} elements along an axis in sorted order; equal ones keep their order. */
    private static void sorted(OpContext context, int k, boolean ascending, boolean both) {
        Operand x = context.in("x");
        int[] shape = x.shape();
        int axis = context.axis("axis", -1, shape.length);
        int size = shape[axis];
        int inner = Strides.elements(shape, axis + 1, shape.length);
        boolean onlyValues = !both && context.kind().equals("topk");
        Operand first = context.out(context.results().getFirst());
        Operand values = both || onlyValues ? first : null;
        Operand indices = both ? context.out(context.results().get(1)) : onlyValues ? null : first;
        context.step(call -> {
            float[] in = x.array(call);
            for (int i = 0; i < x.size() / Math.max(1, size); i++) {
                int from = x.offset() + i / inner * inner * size + i % inner;
                Comparator<Integer> order = (a, b) -> Float.compare(in[from + a * inner], in[from + b * inner]);
                List<Integer> ranks = IntStream.range(0, size)
                        .boxed()
                        .sorted(ascending ? order : order.reversed())
                        .toList();
                int to = i / inner * inner * k + i % inner;
                for (int j = 0; j < k; j++) {
                    if (values != null) {
                        values.array(call)[values.offset() + to + j * inner] = in[from + ranks.get(j) * inner];
                    }
                    if (indices != null) {
                        indices.array(call)[indices.offset() + to + j * inner] = ranks.get(j);
                    }
                }
            }
        });
    }

    private static void oneHot(OpContext context) {
        Operand indices = context.in("indices");
        Operand out = context.out();
        int axis = context.axis("axis", -1, out.type().rank());
        int size = out.type().axis(axis);
        int inner = Strides.elements(out.shape(), axis + 1, out.type().rank());
        float on = context.number("on_value", 1f);
        float off = context.number("off_value", 0f);
        context.step(call -> {
            for (int i = 0; i < out.size(); i++) {
                int source = i / inner / size * inner + i % inner;
                boolean hot = (int) indices.array(call)[indices.offset() + source] == i / inner % size;
                out.array(call)[out.offset() + i] = hot ? on : off;
            }
        });
    }

    private static void range(OpContext context) {
        Operand start = context.in("start");
        Operand step = context.in("step");
        context.in("end");
        Operand out = context.out();
        context.step(call -> {
            for (int i = 0; i < out.size(); i++) {
                out.array(call)[out.offset() + i] =
                        start.array(call)[start.offset()] + i * step.array(call)[step.offset()];
            }
        });
    }

    /** Keeps the elements within {@code lower} diagonals below and {@code upper} above the main one; -1 keeps all. */
    private static void bandPart(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int lower = context.integer("lower", -1);
        int upper = context.integer("upper", -1);
        int rows = x.type().axis(-2);
        int columns = x.type().axis(-1);
        context.step(call -> {
            for (int i = 0; i < out.size(); i++) {
                int row = i / columns % rows;
                int column = i % columns;
                boolean inside = (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper);
                out.array(call)[out.offset() + i] = inside ? x.array(call)[x.offset() + i] : 0;
            }
        });
    }
}
