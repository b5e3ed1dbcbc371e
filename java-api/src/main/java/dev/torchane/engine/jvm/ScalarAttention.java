package dev.torchane.engine.jvm;

/** The plain Java form of a part of attention. */
final class ScalarAttention {

    private static final int L = Lanes.COUNT;

    private ScalarAttention() {}

    static void part(AttentionPart part, float[] scratch) {
        for (int i = 0; i < part.queries(); i++) {
            int count = part.count(i);
            if (count > 0) {
                query(part, i, count, scratch);
            }
        }
    }

    private static void query(AttentionPart part, int index, int count, float[] scratch) {
        int dim = part.dim;
        int scores = part.scores();
        int sums = part.sums();
        int column = part.tile();
        int query = part.query(index);
        for (int d = 0; d < dim; d++) {
            scratch[d] = part.q[query + d] * part.scale;
        }
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            int at = part.keyOffset + part.column(i) * AttentionPart.stride(part.keys, dim);
            float[] key = row(part.keys, at, dim, scratch, column);
            int from = key == scratch ? column : at;
            java.util.Arrays.fill(scratch, sums, sums + L, 0f);
            for (int d = 0; d < dim; d++) {
                scratch[sums + d % L] = Math.fma(scratch[d], key[from + d], scratch[sums + d % L]);
            }
            float score = Lanes.foldByFour(scratch, sums) * factor(part.keys, at, dim);
            if (part.mask != null) {
                score += part.mask[part.maskOffset + part.column(i)];
            }
            scratch[scores + i] = score;
            max = Math.max(max, score);
        }
        int to = part.outOffset + index * AttentionPart.stride(dim);
        part.out[to + dim] = expSum(scratch, scores, count, max, sums);
        part.out[to + dim + 1] = max;
        java.util.Arrays.fill(part.out, to, to + dim, 0f);
        for (int i = 0; i < count; i++) {
            int at = part.valueOffset + part.column(i) * AttentionPart.stride(part.values, dim);
            float[] value = row(part.values, at, dim, scratch, column);
            int from = value == scratch ? column : at;
            float weight = scratch[scores + i] * factor(part.values, at, dim);
            for (int d = 0; d < dim; d++) {
                part.out[to + d] = Math.fma(weight, value[from + d], part.out[to + d]);
            }
        }
    }

    /** By what a column is multiplied, which is applied to sums. */
    private static float factor(Object memory, int at, int dim) {
        return memory instanceof byte[] rows ? QuantizedRows.factor(rows, at, dim) : 1f;
    }

    /** A column in fp32, without its factor: where it lies, or in {@code scratch} at {@code to}. */
    private static float[] row(Object memory, int at, int dim, float[] scratch, int to) {
        switch (memory) {
            case short[] halves -> ScalarKernels.halves(halves, at, scratch, to, dim);
            case byte[] bytes -> {
                for (int d = 0; d < dim; d++) {
                    scratch[to + d] = bytes[at + d];
                }
            }
            default -> {
                return (float[]) memory;
            }
        }
        return scratch;
    }

    /** As {@link Kernels#expSum}. */
    static float expSum(float[] scores, int at, int count, int spare) {
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            max = Math.max(max, scores[at + i]);
        }
        return expSum(scores, at, count, max, spare);
    }

    /** Replaces scores by {@code exp(score - max)} and answers their sum; {@code sums} has room for the partial sums. */
    private static float expSum(float[] scores, int at, int count, float max, int sums) {
        java.util.Arrays.fill(scores, sums, sums + L, 0f);
        for (int i = 0; i < count; i++) {
            scores[at + i] = Maths.exp(scores[at + i] - max);
            scores[sums + i % L] += scores[at + i];
        }
        return Lanes.fold(scores, sums);
    }
}
