package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/** Attention of one query: scores of four columns at a time, then the softmax, then the mix of values. */
final class VectorAttention {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;

    private static final VectorShuffle<Float> BY_1 = VectorShuffle.fromOp(FS, i -> i ^ 1);
    private static final VectorShuffle<Float> BY_2 = VectorShuffle.fromOp(FS, i -> i ^ 2);
    private static final VectorShuffle<Float> BY_4 = VectorShuffle.fromOp(FS, i -> (i ^ 4) % V);
    private static final VectorShuffle<Float> BY_8 = VectorShuffle.fromOp(FS, i -> (i ^ 8) % V);
    private static final VectorMask<Float> ODD_1 = lanesWith(1);
    private static final VectorMask<Float> ODD_2 = lanesWith(2);

    private VectorAttention() {}

    private static VectorMask<Float> lanesWith(int bit) {
        boolean[] lanes = new boolean[V];
        for (int i = 0; i < V; i++) {
            lanes[i] = (i & bit) != 0;
        }
        return VectorMask.fromArray(FS, lanes, 0);
    }

    static void attention(
            float[] q,
            int qOffset,
            float scale,
            Object keys,
            int keyOffset,
            Object values,
            int valueOffset,
            float[] mask,
            int maskOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] out,
            int outOffset,
            float[] scratch) {
        int query = Lanes.roundUp(count) + L;
        int sums = query + dim;
        int block = sums + L;
        for (int d = 0; d < dim; d += V) {
            FloatVector.fromArray(FS, q, qOffset + d).mul(scale).intoArray(scratch, query + d);
        }
        scores(keys, keyOffset, columns, columnsOffset, count, dim, scratch, query, block);
        if (mask != null) {
            for (int i = 0; i < count; i++) {
                scratch[i] += mask[maskOffset + columns[columnsOffset + i]];
            }
        }
        float inverse = 1f / expSum(scratch, count, max(scratch, count, sums), sums);
        if (values instanceof short[] halves) {
            mix(halves, valueOffset, columns, columnsOffset, count, dim, scratch, query, block);
        } else {
            mix((float[]) values, valueOffset, columns, columnsOffset, count, dim, scratch, query);
        }
        for (int d = 0; d < dim; d += V) {
            FloatVector.fromArray(FS, scratch, query + d).mul(inverse).intoArray(out, outOffset + d);
        }
    }

    private static void scores(
            Object keys,
            int keyOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] scratch,
            int query,
            int block) {
        for (int i = 0; i < count; i += 4) {
            int last = count - 1;
            int a = keyOffset + columns[columnsOffset + i] * dim;
            int b = keyOffset + columns[columnsOffset + Math.min(i + 1, last)] * dim;
            int c = keyOffset + columns[columnsOffset + Math.min(i + 2, last)] * dim;
            int d = keyOffset + columns[columnsOffset + Math.min(i + 3, last)] * dim;
            if (keys instanceof short[] halves) {
                widen(halves, a, scratch, block, dim);
                widen(halves, b, scratch, block + dim, dim);
                widen(halves, c, scratch, block + 2 * dim, dim);
                widen(halves, d, scratch, block + 3 * dim, dim);
                four(scratch, block, block + dim, block + 2 * dim, block + 3 * dim, scratch, query, dim)
                        .intoArray(scratch, i);
            } else {
                four((float[]) keys, a, b, c, d, scratch, query, dim).intoArray(scratch, i);
            }
        }
    }

    private static void widen(short[] from, int at, float[] to, int offset, int dim) {
        for (int d = 0; d < dim; d += V) {
            VectorForms.halves(from, at + d).intoArray(to, offset + d);
        }
    }

    /** Products of the query with four columns, in lanes 0 to 3; partial sums are folded over 2, 1, 8 and 4 lanes. */
    private static FloatVector four(float[] k, int a, int b, int c, int d, float[] q, int query, int dim) {
        if (V == 16) {
            FloatVector sum = quarter(k, a, b, c, d, q, query, dim);
            sum = sum.add(sum.rearrange(BY_8));
            return sum.add(sum.rearrange(BY_4));
        }
        if (V == 8) {
            FloatVector low = quarter(k, a, b, c, d, q, query, dim);
            FloatVector sum = low.add(quarter(k, a + 8, b + 8, c + 8, d + 8, q, query + 8, dim));
            return sum.add(sum.rearrange(BY_4));
        }
        FloatVector s0 = quarter(k, a, b, c, d, q, query, dim);
        FloatVector s1 = quarter(k, a + 4, b + 4, c + 4, d + 4, q, query + 4, dim);
        FloatVector s2 = quarter(k, a + 8, b + 8, c + 8, d + 8, q, query + 8, dim);
        FloatVector s3 = quarter(k, a + 12, b + 12, c + 12, d + 12, q, query + 12, dim);
        return s0.add(s2).add(s1.add(s3));
    }

    /** Sums of four columns over every sixteenth lane from some on, folded so that lane i belongs to column i mod 4. */
    private static FloatVector quarter(float[] k, int a, int b, int c, int d, float[] q, int query, int dim) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int i = 0; i < dim; i += L) {
            FloatVector value = FloatVector.fromArray(FS, q, query + i);
            s0 = value.fma(FloatVector.fromArray(FS, k, a + i), s0);
            s1 = value.fma(FloatVector.fromArray(FS, k, b + i), s1);
            s2 = value.fma(FloatVector.fromArray(FS, k, c + i), s2);
            s3 = value.fma(FloatVector.fromArray(FS, k, d + i), s3);
        }
        FloatVector even = s0.blend(s2, ODD_2).add(s2.blend(s0, ODD_2).rearrange(BY_2));
        FloatVector odd = s1.blend(s3, ODD_2).add(s3.blend(s1, ODD_2).rearrange(BY_2));
        return even.blend(odd, ODD_1).add(odd.blend(even, ODD_1).rearrange(BY_1));
    }

    private static float max(float[] scores, int count, int spare) {
        float max = Float.NEGATIVE_INFINITY;
        int i = 0;
        if (count >= V) {
            FloatVector most = FloatVector.fromArray(FS, scores, 0);
            for (i = V; i + V <= count; i += V) {
                most = most.max(FloatVector.fromArray(FS, scores, i));
            }
            most.intoArray(scores, spare);
            for (int lane = 0; lane < V; lane++) {
                max = Math.max(max, scores[spare + lane]);
            }
        }
        for (; i < count; i++) {
            max = Math.max(max, scores[i]);
        }
        return max;
    }

    /** As {@link ScalarKernels#expSum}. */
    private static float expSum(float[] scores, int count, float max, int sums) {
        int whole = count - count % L;
        FloatVector least = FloatVector.broadcast(FS, max);
        for (int part = 0; part < L; part += V) {
            FloatVector sum = FloatVector.zero(FS);
            for (int i = part; i < whole; i += L) {
                FloatVector e =
                        VectorForms.exp(FloatVector.fromArray(FS, scores, i).sub(least));
                e.intoArray(scores, i);
                sum = sum.add(e);
            }
            sum.intoArray(scores, sums + part);
        }
        for (int i = whole; i < count; i++) {
            scores[i] = Maths.exp(scores[i] - max);
            scores[sums + i % L] += scores[i];
        }
        return Lanes.fold(scores, sums);
    }

    private static void mix(
            float[] values,
            int valueOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] scratch,
            int to) {
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            FloatVector s0 = FloatVector.zero(FS);
            FloatVector s1 = s0;
            FloatVector s2 = s0;
            FloatVector s3 = s0;
            for (int i = 0; i < count; i++) {
                FloatVector weight = FloatVector.broadcast(FS, scratch[i]);
                int at = valueOffset + columns[columnsOffset + i] * dim + d;
                s0 = weight.fma(FloatVector.fromArray(FS, values, at), s0);
                s1 = weight.fma(FloatVector.fromArray(FS, values, at + V), s1);
                s2 = weight.fma(FloatVector.fromArray(FS, values, at + 2 * V), s2);
                s3 = weight.fma(FloatVector.fromArray(FS, values, at + 3 * V), s3);
            }
            s0.intoArray(scratch, to + d);
            s1.intoArray(scratch, to + d + V);
            s2.intoArray(scratch, to + d + 2 * V);
            s3.intoArray(scratch, to + d + 3 * V);
        }
        for (; d < dim; d += V) {
            FloatVector sum = FloatVector.zero(FS);
            for (int i = 0; i < count; i++) {
                int at = valueOffset + columns[columnsOffset + i] * dim + d;
                sum = FloatVector.broadcast(FS, scratch[i]).fma(FloatVector.fromArray(FS, values, at), sum);
            }
            sum.intoArray(scratch, to + d);
        }
    }

    private static void mix(
            short[] values,
            int valueOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] scratch,
            int to,
            int block) {
        for (int d = 0; d < dim; d += V) {
            FloatVector sum = FloatVector.zero(FS);
            for (int i = 0; i < count; i++) {
                int at = valueOffset + columns[columnsOffset + i] * dim + d;
                sum = FloatVector.broadcast(FS, scratch[i]).fma(VectorForms.halves(values, at), sum);
            }
            sum.intoArray(scratch, to + d);
        }
    }
}
