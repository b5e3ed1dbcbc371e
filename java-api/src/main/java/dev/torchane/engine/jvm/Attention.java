package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Rotary positions and attention. */
final class Attention {

    private Attention() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put(FuseGroups.ROPE, Attention::rope);
        table.put(FuseGroups.SDPA, Sdpa::plan);
        table.put("scaled_dot_product_attention", FullAttention::plan);
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
}
