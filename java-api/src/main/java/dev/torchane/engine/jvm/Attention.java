package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Rotary positions and attention. */
final class Attention {

    private Attention() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put(FuseGroups.ROPE, Attention::rope);
        table.put(FuseGroups.SDPA, Sdpa::plan);
        table.put("scaled_dot_product_attention", Attention::standard);
    }

    /** {@code x * cos + (-second half, first half) * sin} for x [.., H, Q, D] and cos, sin [.., 1, Q, D]. */
    private static void rope(OpContext context) {
        Operand x = context.in("x");
        Operand cos = context.in("cos");
        Operand sin = context.in("sin");
        Operand out = context.out();
        int dim = x.type().axis(-1);
        int rows = x.type().axis(-2);
        context.step(new Rope(x, cos, sin, out, x.size() / (rows * dim), rows, dim));
    }

    private record Rope(Operand x, Operand cos, Operand sin, Operand out, int heads, int rows, int dim)
            implements Step, WorkerPool.Task {

        private static final int GRAIN = 1 << 13;

        private int chunks() {
            return Math.clamp((long) heads * rows * dim / GRAIN, 1, heads);
        }

        @Override
        public void run(Call call) {
            call.parallel(this, chunks());
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int chunks = chunks();
            for (int head = heads * chunk / chunks; head < heads * (chunk + 1) / chunks; head++) {
                for (int row = 0; row < rows; row++) {
                    int at = (head * rows + row) * dim;
                    rotate(
                            x.array(call),
                            x.offset() + at,
                            cos.array(call),
                            cos.offset() + row * dim,
                            sin.array(call),
                            sin.offset() + row * dim,
                            out.array(call),
                            out.offset() + at,
                            dim / 2);
                }
            }
        }

        private static void rotate(
                float[] x, int xAt, float[] cos, int cosAt, float[] sin, int sinAt, float[] out, int at, int half) {
            for (int i = 0; i < half; i++) {
                out[at + i] = x[xAt + i] * cos[cosAt + i] + -x[xAt + half + i] * sin[sinAt + i];
            }
            for (int i = half; i < 2 * half; i++) {
                out[at + i] = x[xAt + i] * cos[cosAt + i] + x[xAt - half + i] * sin[sinAt + i];
            }
        }
    }

    /** MIL's own operation: any leading axes, mask optional, boolean or added. */
    private static void standard(OpContext context) {
        Operand query = context.in("query");
        Operand key = context.in("key");
        Operand value = context.in("value");
        Operand mask = context.maybe("attn_mask").orElse(null);
        Operand out = context.out();
        boolean truth = mask != null && mask.type().dtype() == dev.torchane.program.DType.BOOL;
        int rows = query.type().axis(-2);
        int dim = query.type().axis(-1);
        int width = key.type().axis(-2);
        int valueDim = value.type().axis(-1);
        int batches = query.size() / Math.max(1, rows * dim);
        double scale = 1 / Math.sqrt(dim);
        int[] scores = out.shape();
        scores[scores.length - 1] = width;
        int[] maskStrides = mask == null ? new int[scores.length] : Strides.broadcast(mask.shape(), scores);
        int[] dense = Strides.of(scores);
        context.step(call -> {
            double[] weights = new double[width];
            for (int i = 0; i < batches * rows; i++) {
                int batch = i / rows;
                double max = Double.NEGATIVE_INFINITY;
                for (int c = 0; c < width; c++) {
                    double score = 0;
                    for (int d = 0; d < dim; d++) {
                        score += (double) query.array(call)[query.offset() + i * dim + d]
                                * key.array(call)[key.offset() + (batch * width + c) * dim + d];
                    }
                    score *= scale;
                    if (mask != null) {
                        int at = mask.offset();
                        for (int axis = 0; axis < scores.length; axis++) {
                            at += (i * width + c) / dense[axis] % scores[axis] * maskStrides[axis];
                        }
                        float m = mask.array(call)[at];
                        score = truth ? (m != 0 ? score : Double.NEGATIVE_INFINITY) : score + m;
                    }
                    weights[c] = score;
                    max = Math.max(max, score);
                }
                double sum = 0;
                for (int c = 0; c < width; c++) {
                    weights[c] = Math.exp(weights[c] - max);
                    sum += weights[c];
                }
                for (int d = 0; d < valueDim; d++) {
                    double total = 0;
                    for (int c = 0; c < width; c++) {
                        total += weights[c] * value.array(call)[value.offset() + (batch * width + c) * valueDim + d];
                    }
                    out.array(call)[out.offset() + i * valueDim + d] = (float) (total / sum);
                }
            }
        });
    }
}
