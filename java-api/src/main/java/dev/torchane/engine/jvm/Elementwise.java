package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import java.util.Map;
import java.util.function.Consumer;

/** Operations on one, two or three tensors element by element, with broadcasting. */
final class Elementwise {

    /** Elements of one chunk of a large elementwise step. */
    private static final int CHUNK = 1 << 14;

    interface Unary {
        float apply(float x);
    }

    interface Binary {
        float apply(float x, float y);
    }

    private Elementwise() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        binary(table, "add", (x, y) -> x + y);
        binary(table, "sub", (x, y) -> x - y);
        binary(table, "mul", (x, y) -> x * y);
        binary(table, "maximum", Math::max);
        binary(table, "minimum", Math::min);
        binary(table, "pow", (x, y) -> (float) Math.pow(x, y));
        binary(table, "floor_div", (x, y) -> (float) Math.floor((double) x / y));
        binary(table, "mod", (x, y) -> (float) (x - Math.floor((double) x / y) * y));
        table.put("real_div", Elementwise::divide);
        binary(table, "equal", (x, y) -> x == y ? 1 : 0);
        binary(table, "not_equal", (x, y) -> x != y ? 1 : 0);
        binary(table, "less", (x, y) -> x < y ? 1 : 0);
        binary(table, "less_equal", (x, y) -> x <= y ? 1 : 0);
        binary(table, "greater", (x, y) -> x > y ? 1 : 0);
        binary(table, "greater_equal", (x, y) -> x >= y ? 1 : 0);
        binary(table, "logical_and", (x, y) -> x != 0 && y != 0 ? 1 : 0);
        binary(table, "logical_or", (x, y) -> x != 0 || y != 0 ? 1 : 0);
        binary(table, "logical_xor", (x, y) -> (x != 0) != (y != 0) ? 1 : 0);
        table.put("select", Elementwise::select);
        table.put("cast", Elementwise::cast);
    }

    private static void binary(Map<String, Consumer<OpContext>> table, String kind, Binary function) {
        table.put(kind, context -> {
            Operand x = context.in("x");
            Operand y = context.in("y");
            context.step(binary(context.kind(), function, x, y, context.out()));
        });
    }

    private static void divide(OpContext context) {
        Operand x = context.in("x");
        Operand y = context.in("y");
        Binary function = context.results().getFirst().type().dtype().isFloat()
                ? (a, b) -> a / b
                : (a, b) -> (float) (int) (a / b);
        context.step(binary("real_div", function, x, y, context.out()));
    }

    private static Step binary(String kind, Binary function, Operand x, Operand y, Operand out) {
        if (out.size() == x.size() && out.size() == y.size()) {
            if (kind.equals("add")) {
                return new Add(x, y, out);
            }
            if (kind.equals("mul")) {
                return new Multiply(x, y, out);
            }
        }
        return Broadcast.of(kind, function, x, y, out);
    }

    /** {@code out = x + y}, all of one shape. */
    record Add(Operand x, Operand y, Operand out) implements Step, WorkerPool.Task {
        @Override
        public void run(Call call) {
            call.parallel(this, Math.ceilDiv(out.size(), CHUNK));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int from = chunk * CHUNK;
            add(
                    x.array(call),
                    x.offset() + from,
                    y.array(call),
                    y.offset() + from,
                    out.array(call),
                    out.offset() + from,
                    Math.min(CHUNK, out.size() - from));
        }

        private static void add(float[] x, int xAt, float[] y, int yAt, float[] out, int at, int size) {
            for (int i = 0; i < size; i++) {
                out[at + i] = x[xAt + i] + y[yAt + i];
            }
        }
    }

    /** {@code out = x * y}, all of one shape. */
    record Multiply(Operand x, Operand y, Operand out) implements Step, WorkerPool.Task {
        @Override
        public void run(Call call) {
            call.parallel(this, Math.ceilDiv(out.size(), CHUNK));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int from = chunk * CHUNK;
            multiply(
                    x.array(call),
                    x.offset() + from,
                    y.array(call),
                    y.offset() + from,
                    out.array(call),
                    out.offset() + from,
                    Math.min(CHUNK, out.size() - from));
        }

        private static void multiply(float[] x, int xAt, float[] y, int yAt, float[] out, int at, int size) {
            for (int i = 0; i < size; i++) {
                out[at + i] = x[xAt + i] * y[yAt + i];
            }
        }
    }

    /** A step that applies a function to each element. */
    static void unary(OpContext context, Unary function) {
        Operand x = context.in("x");
        Operand out = context.out();
        context.step(new Each(function, x, out));
    }

    private record Each(Unary function, Operand x, Operand out) implements Step, WorkerPool.Task {
        @Override
        public void run(Call call) {
            call.parallel(this, Math.ceilDiv(out.size(), CHUNK));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            float[] in = x.array(call);
            float[] to = out.array(call);
            int from = chunk * CHUNK;
            int end = Math.min(out.size(), from + CHUNK);
            for (int i = from; i < end; i++) {
                to[out.offset() + i] = function.apply(in[x.offset() + i]);
            }
        }
    }

    private static void select(OpContext context) {
        Operand condition = context.in("cond");
        Operand a = context.in("a");
        Operand b = context.in("b");
        Operand out = context.out();
        int[] shape = out.shape();
        // cond * a and (1 - cond) * b would turn infinities into NaN, so: choose b where the condition is 0, then a
        // elsewhere.
        Operand chosen = context.temporary(out.type());
        Operand mask = context.temporary(out.type());
        int[] dense = Strides.of(shape);
        context.step(Strides.copy(condition, 0, Strides.broadcast(condition.shape(), shape), mask, 0, dense, shape));
        context.step(Strides.copy(a, 0, Strides.broadcast(a.shape(), shape), chosen, 0, dense, shape));
        context.step(Strides.copy(b, 0, Strides.broadcast(b.shape(), shape), out, 0, dense, shape));
        context.step(call -> {
            float[] to = out.array(call);
            float[] from = chosen.array(call);
            float[] when = mask.array(call);
            for (int i = 0; i < out.size(); i++) {
                if (when[mask.offset() + i] != 0) {
                    to[out.offset() + i] = from[chosen.offset() + i];
                }
            }
        });
    }

    private static void cast(OpContext context) {
        DType from = context.type("x").dtype();
        DType to = context.results().getFirst().type().dtype();
        if (to == DType.BOOL && from != DType.BOOL) {
            unary(context, x -> x != 0 ? 1 : 0);
        } else if (!to.isFloat() && from.isFloat()) {
            // Toward zero, as a C cast; NaN becomes 0.
            unary(context, x -> (float) (int) x);
        } else if (context.declared() && to.isFloat() && to.bits() < from.bits()) {
            unary(context, x -> x);
        } else {
            context.alias(context.in("x"), 0);
        }
    }
}
