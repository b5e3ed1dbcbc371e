package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Rotary positions and attention. */
final class Attention {

    /** Scores below this are closed: the mask of a program is 0 or −40000. */
    private static final float CLOSED = -30000f;

    private Attention() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put(FuseGroups.ROPE, Attention::rope);
        table.put(FuseGroups.SDPA, Attention::sdpa);
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

    /** Grouped attention: query [1, H, Q, D], key and value [1, kv, M, D] (maybe in a state), mask [1, 1, Q, M]. */
    private static void sdpa(OpContext context) {
        Operand query = context.in("query");
        Operand key = context.raw("key");
        Operand value = context.raw("value");
        Operand mask = context.in("mask");
        Operand out = context.out();
        int heads = query.type().axis(1);
        int rows = query.type().axis(2);
        int width = mask.type().axis(-1);
        int table = context.table(mask.buffer(), index -> new OpenColumns(mask, index, rows, width));
        context.step(new Sdpa(
                query,
                context.number("scale", 1f),
                key,
                value,
                mask,
                table,
                out,
                heads,
                key.type().axis(1),
                rows,
                width,
                query.type().axis(3)));
    }

    /**
     * Lists, for each row of a mask, how many columns are open, whether something is added to one of them (1 or 0), and
     * which are open: {@code [rows][2 + width]}.
     */
    private record OpenColumns(Operand mask, int table, int rows, int width) implements Step {
        @Override
        public void run(Call call) {
            int[] columns = call.table(table, rows * (width + 2));
            float[] values = mask.array(call);
            for (int row = 0; row < rows; row++) {
                int to = row * (width + 2);
                int from = mask.offset() + row * width;
                int count = open(values, from, width, columns, to + 2);
                if (count == 0) {
                    // A row that sees nothing has a softmax over all its columns, as the operations say.
                    for (int c = 0; c < width; c++) {
                        columns[to + 2 + c] = c;
                    }
                    count = width;
                }
                columns[to] = count;
                columns[to + 1] = adds(values, from, columns, to + 2, count) ? 1 : 0;
            }
        }

        private static boolean adds(float[] mask, int from, int[] columns, int at, int count) {
            for (int i = 0; i < count; i++) {
                if (mask[from + columns[at + i]] != 0) {
                    return true;
                }
            }
            return false;
        }

        private static int open(float[] mask, int from, int width, int[] columns, int to) {
            int count = 0;
            for (int c = 0; c < width; c++) {
                if (mask[from + c] > CLOSED) {
                    columns[to + count++] = c;
                }
            }
            return count;
        }
    }

    private record Sdpa(
            Operand query,
            float scale,
            Operand key,
            Operand value,
            Operand mask,
            int table,
            Operand out,
            int heads,
            int keyHeads,
            int rows,
            int width,
            int dim)
            implements Step, WorkerPool.Task {

        /** Rows that one chunk computes, for the heads that share keys. */
        private static final int ROWS = 8;

        @Override
        public void run(Call call) {
            call.parallel(this, keyHeads * Math.ceilDiv(rows, ROWS) * split(call));
        }

        /** Parts of a group of heads, where there would be fewer chunks than threads. */
        private int split(Call call) {
            int chunks = keyHeads * Math.ceilDiv(rows, ROWS);
            return chunks >= 2 * call.threads()
                    ? 1
                    : Math.min(heads / keyHeads, Math.ceilDiv(2 * call.threads(), chunks));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int split = split(call);
            int part = chunk % split;
            int keyHead = chunk / split % keyHeads;
            int first = chunk / split / keyHeads * ROWS;
            int group = heads / keyHeads;
            int head = keyHead * group + group * part / split;
            int queries = keyHead * group + group * (part + 1) / split - head;
            int[] columns = call.table(table, 0);
            float[] scratch = call.scratch(worker, Kernels.attentionScratch(queries, width, dim));
            Object keys = memory(key, call);
            Object values = memory(value, call);
            Kernels kernels = call.kernels.attention(keys instanceof short[]);
            for (int row = first; row < Math.min(rows, first + ROWS); row++) {
                int list = row * (width + 2);
                int at = (head * rows + row) * dim;
                kernels.attention(
                        query.array(call),
                        query.offset() + at,
                        queries,
                        rows * dim,
                        scale,
                        keys,
                        key.offset() + keyHead * width * dim,
                        values,
                        value.offset() + keyHead * width * dim,
                        columns[list + 1] == 0 ? null : mask.array(call),
                        mask.offset() + row * width,
                        columns,
                        list + 2,
                        columns[list],
                        dim,
                        out.array(call),
                        out.offset() + at,
                        scratch);
            }
        }

        private static Object memory(Operand operand, Call call) {
            return operand.buffer().half ? call.states[operand.buffer().state] : operand.array(call);
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
