package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;

/**
 * MIL's own attention: any leading axes, every column seen unless a mask says otherwise. Scores of some rows are products with packed
 * keys, in scratch memory; their softmax is applied there, and products with packed values follow.
 */
final class FullAttention {

    /** Rows whose scores are computed together. */
    private static final int ROWS = 32;

    private FullAttention() {}

    static void plan(OpContext context) {
        Operand query = context.in("query");
        Operand key = context.in("key");
        Operand value = context.in("value");
        Operand mask = context.maybe("attn_mask").orElse(null);
        Operand out = context.out();
        TensorType q = query.type();
        int[] scores = out.shape();
        scores[scores.length - 1] = key.type().axis(-2);
        context.step(new Attend(
                query,
                key,
                value,
                mask,
                out,
                query.size() / Math.max(1, q.axis(-1) * q.axis(-2)),
                q.axis(-2),
                q.axis(-1),
                key.type().axis(-2),
                value.type().axis(-1),
                scores,
                mask == null ? new int[scores.length] : Strides.broadcast(mask.shape(), scores)));
    }

    /**
     * @param mask added to the scores, or truth values that say what is seen; or null
     * @param scores shape of all scores
     * @param maskStrides strides with which the mask is read as if it had that shape
     */
    private record Attend(
            Operand query,
            Operand key,
            Operand value,
            Operand mask,
            Operand out,
            int batches,
            int rows,
            int dim,
            int width,
            int valueDim,
            int[] scores,
            int[] maskStrides)
            implements Step, WorkerPool.Task {

        /** Parts into which the rows of a batch are cut: keys and values are packed once for each. */
        private int parts(int threads) {
            int wanted = batches >= 2 * threads ? 1 : Math.ceilDiv(2 * threads, Math.max(1, batches));
            return Math.max(1, Math.min(wanted, Math.ceilDiv(rows, ROWS)));
        }

        @Override
        public void run(Call call) {
            call.parallel(this, batches * parts(call.threads()));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int parts = parts(call.threads());
            int batch = chunk / parts;
            int blocks = Math.ceilDiv(rows, ROWS);
            float[] keys = call.packed(worker, 0, Panels.length(width, dim));
            float[] values = call.packed(worker, 1, Panels.length(valueDim, width));
            Panels.packRows(key.array(call), key.offset() + batch * width * dim, dim, width, keys, 0);
            int from = value.offset() + batch * width * valueDim;
            Panels.packColumns(value.array(call), from, valueDim, width, valueDim, values);
            Panels keyPanels = new Panels.F32(width, dim, keys);
            Panels valuePanels = new Panels.F32(valueDim, width, values);
            int part = chunk % parts;
            for (int block = blocks * part / parts; block < blocks * (part + 1) / parts; block++) {
                int first = block * ROWS;
                rows(call, worker, batch, first, Math.min(ROWS, rows - first), keyPanels, valuePanels);
            }
        }

        private void rows(Call call, int worker, int batch, int first, int count, Panels keys, Panels values) {
            // Each row has room for the partial sums of its softmax behind it.
            int stride = width + Lanes.COUNT;
            float[] seen = call.packed(worker, 2, ROWS * stride);
            int size = Math.max(Kernels.linearScratch(keys, ROWS), Kernels.linearScratch(values, ROWS));
            float[] scratch = call.scratch(worker, size);
            int at = query.offset() + (batch * rows + first) * dim;
            call.kernels
                    .linear(keys, count)
                    .linear(
                            query.array(call),
                            at,
                            count,
                            keys,
                            null,
                            null,
                            0,
                            0,
                            keys.count(),
                            seen,
                            0,
                            stride,
                            scratch);
            float scale = (float) (1 / Math.sqrt(dim));
            float[] sums = call.packed(worker, 3, ROWS);
            for (int row = 0; row < count; row++) {
                int from = row * stride;
                scaled(seen, from, width, scale);
                if (mask != null) {
                    masked(mask.array(call), batch, first + row, seen, from);
                }
                sums[row] = call.kernels.attention(StateMemory.FP32).expSum(seen, from, width, from + width);
            }
            mixed(call, batch, first, count, seen, stride, values, scratch, sums);
        }

        private static void scaled(float[] x, int at, int count, float factor) {
            for (int i = 0; i < count; i++) {
                x[at + i] *= factor;
            }
        }

        private void masked(float[] numbers, int batch, int row, float[] seen, int at) {
            int rank = scores.length;
            int from = mask.offset() + row * maskStrides[rank - 2];
            for (int axis = rank - 3, rest = batch; axis >= 0; axis--) {
                from += rest % scores[axis] * maskStrides[axis];
                rest /= scores[axis];
            }
            int step = maskStrides[rank - 1];
            boolean truth = mask.type().dtype() == DType.BOOL;
            for (int i = 0; i < width; i++) {
                float number = numbers[from + i * step];
                if (!truth) {
                    seen[at + i] += number;
                } else if (number == 0) {
                    seen[at + i] = Float.NEGATIVE_INFINITY;
                }
            }
        }

        /** The mixes of values, by weights that do not sum up to 1 yet; the kernel wants rows without gaps. */
        private void mixed(
                Call call,
                int batch,
                int first,
                int count,
                float[] seen,
                int stride,
                Panels values,
                float[] scratch,
                float[] sums) {
            for (int row = 1; row < count; row++) {
                System.arraycopy(seen, row * stride, seen, row * width, width);
            }
            float[] to = out.array(call);
            int at = out.offset() + (batch * rows + first) * valueDim;
            call.kernels
                    .linear(values, count)
                    .linear(seen, 0, count, values, null, null, 0, 0, values.count(), to, at, valueDim, scratch);
            for (int row = 0; row < count; row++) {
                scaled(to, at + row * valueDim, valueDim, 1f / sums[row]);
            }
        }
    }
}
