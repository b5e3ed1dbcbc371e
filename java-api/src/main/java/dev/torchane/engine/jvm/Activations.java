package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import java.util.Map;
import java.util.function.Consumer;

/** Functions of one element. */
final class Activations {

    private static final float ROOT_HALF = (float) Math.sqrt(0.5);

    private Activations() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        unary(table, "abs", Math::abs);
        unary(table, "acos", x -> (float) Math.acos(x));
        unary(table, "asin", x -> (float) Math.asin(x));
        unary(table, "atan", x -> (float) Math.atan(x));
        unary(table, "atanh", x -> (float) (0.5 * Math.log((1.0 + x) / (1.0 - x))));
        unary(table, "ceil", x -> (float) Math.ceil(x));
        unary(table, "cos", x -> (float) Math.cos(x));
        unary(table, "cosh", x -> (float) Math.cosh(x));
        unary(table, "erf", x -> (float) Maths.erf(x));
        unary(table, "exp", Maths::exp);
        unary(table, "exp2", x -> (float) Math.pow(2, x));
        unary(table, "floor", x -> (float) Math.floor(x));
        unary(table, "logical_not", x -> x == 0 ? 1 : 0);
        unary(table, "round", x -> (float) Math.rint(x));
        unary(table, "sign", Math::signum);
        unary(table, "sin", x -> (float) Math.sin(x));
        unary(table, "sinh", x -> (float) Math.sinh(x));
        unary(table, "sqrt", x -> (float) Math.sqrt(x));
        unary(table, "square", x -> x * x);
        unary(table, "tan", x -> (float) Math.tan(x));
        unary(table, "tanh", x -> (float) Math.tanh(x));
        unary(table, "relu", x -> Math.max(x, 0f));
        unary(table, "relu6", x -> Math.min(Math.max(x, 0f), 6f));
        unary(table, "sigmoid", Maths::sigmoid);
        table.put("silu", context -> context.step(new Silu(context.in("x"), context.out())));
        unary(table, "softplus", x -> (float) softplus(x));
        unary(table, "softsign", x -> x / (1f + Math.abs(x)));
        table.put("rsqrt", context -> {
            float epsilon = context.number("epsilon", 1e-12f);
            Elementwise.unary(context, x -> (float) (1 / Math.sqrt((double) x + epsilon)));
        });
        table.put("log", context -> {
            float epsilon = context.number("epsilon", 1e-45f);
            Elementwise.unary(context, x -> (float) Math.log((double) x + epsilon));
        });
        table.put("inverse", context -> {
            float epsilon = context.number("epsilon", 1e-4f);
            Elementwise.unary(context, x -> 1f / (x + epsilon));
        });
        table.put("gelu", context -> Elementwise.unary(context, gelu(context.text("mode", "EXACT"))));
        parametric(table);
    }

    /** The kernel of gated activations, with 1 for what is gated. */
    private record Silu(Operand x, Operand out) implements Step, WorkerPool.Task {

        private static final int CHUNK = 1 << 12;
        private static final float[] ONES = ones();

        private static float[] ones() {
            float[] ones = new float[CHUNK];
            java.util.Arrays.fill(ones, 1f);
            return ones;
        }

        private int each() {
            return Math.max(1, Math.ceilDiv(Math.ceilDiv(out.size(), CHUNK), 1 << 15));
        }

        @Override
        public void run(Call call) {
            call.parallel(this, Math.ceilDiv(out.size(), each() * CHUNK));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            for (int from = chunk * each() * CHUNK;
                    from < Math.min(out.size(), (chunk + 1) * each() * CHUNK);
                    from += CHUNK) {
                int size = Math.min(CHUNK, out.size() - from);
                call.kernels
                        .gated()
                        .swiglu(x.array(call), x.offset() + from, ONES, 0, size, out.array(call), out.offset() + from);
            }
        }
    }

    private static void parametric(Map<String, Consumer<OpContext>> table) {
        two(table, "clip", 0f, 0f, (alpha, beta) -> x -> Math.min(Math.max(x, alpha), beta));
        two(table, "clamped_relu", 0f, 0f, (alpha, beta) -> x -> Math.min(x >= 0 ? x : alpha * x, beta));
        two(table, "elu", 1f, 0f, (alpha, beta) -> x -> x > 0 ? x : (float) (alpha * Math.expm1(x)));
        two(table, "leaky_relu", 0.01f, 0f, (alpha, beta) -> x -> x >= 0 ? x : alpha * x);
        two(table, "linear_activation", 1f, 0f, (alpha, beta) -> x -> alpha * x + beta);
        two(table, "scaled_tanh", 1f, 1f, (alpha, beta) -> x -> (float) (alpha * Math.tanh(beta * x)));
        two(table, "sigmoid_hard", 0.2f, 0.5f, (alpha, beta) -> x -> Math.min(Math.max(alpha * x + beta, 0f), 1f));
        two(table, "threshold", 0f, 0f, (alpha, beta) -> x -> Math.max(x, alpha));
        two(table, "thresholded_relu", 1f, 0f, (alpha, beta) -> x -> x > alpha ? x : 0f);
        table.put("prelu", Activations::prelu);
    }

    private interface Two {
        Elementwise.Unary with(float alpha, float beta);
    }

    private static void two(
            Map<String, Consumer<OpContext>> table, String kind, float first, float second, Two function) {
        table.put(kind, context -> {
            float alpha = context.number("alpha", first);
            float beta = context.number("beta", second);
            Elementwise.unary(context, function.with(alpha, beta));
        });
    }

    private static void unary(Map<String, Consumer<OpContext>> table, String kind, Elementwise.Unary function) {
        table.put(kind, context -> Elementwise.unary(context, function));
    }

    /** GELU in one of MIL's modes. */
    static Elementwise.Unary gelu(String mode) {
        return switch (mode) {
            case "EXACT" -> x -> (float) (0.5 * x * (1 + Maths.erf(x * ROOT_HALF)));
            case "TANH_APPROXIMATION" ->
                x -> {
                    double inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
                    return (float) (0.5 * x * (1 + Math.tanh(inner)));
                };
            case "SIGMOID_APPROXIMATION" -> x -> x * Maths.sigmoid(1.702f * x);
            default -> throw new TorchAneException("gelu has no mode '" + mode + "'");
        };
    }

    private static double softplus(double x) {
        return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    private static void prelu(OpContext context) {
        Operand x = context.in("x");
        Operand alpha = context.in("alpha");
        Operand out = context.out();
        int[] shape = x.shape();
        int inner = Strides.elements(shape, 2, shape.length);
        context.step(call -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            float[] slope = alpha.array(call);
            for (int i = 0; i < out.size(); i++) {
                float value = in[x.offset() + i];
                float factor = slope[alpha.offset() + i / inner % shape[1]];
                to[out.offset() + i] = value >= 0 ? value : value * factor;
            }
        });
    }
}
