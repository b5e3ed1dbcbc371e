package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * Attention of queries that share keys and values: scores of four columns at a time, then the softmax, then the mix of
 * values. Keys and values come from memory once for all queries.
 */
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

    private static final int TILE = AttentionScratch.TILE;

    static void attention(
            float[] q,
            int qOffset,
            int queries,
            int queryStride,
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
        int stride = AttentionScratch.stride(count);
        int scaled = AttentionScratch.queries(queries, count);
        int sums = scaled + queries * dim;
        int mixed = sums + L;
        int tile = mixed + queries * dim;
        for (int h = 0; h < queries; h++) {
            for (int d = 0; d < dim; d += V) {
                FloatVector.fromArray(FS, q, qOffset + h * queryStride + d)
                        .mul(scale)
                        .intoArray(scratch, scaled + h * dim + d);
            }
        }
        for (int from = 0; from < count; from += TILE) {
            int size = Math.min(TILE, count - from);
            int at = columnsOffset + from;
            boolean direct = direct(keys, columns, at, size);
            float[] rows = direct ? (float[]) keys : scratch;
            int base = direct ? keyOffset + columns[at] * dim : tile;
            if (!direct) {
                gather(keys, keyOffset, columns, at, 0, size, dim, scratch, tile);
            }
            int whole = size - size % 4;
            for (int h = 0; h < queries; h++) {
                scores(rows, base, whole, dim, scratch, scaled + h * dim, h * stride + from);
            }
            if (whole < size) {
                if (direct) {
                    gather(keys, keyOffset, columns, at, whole, size, dim, scratch, tile);
                }
                for (int h = 0; h < queries; h++) {
                    int to = h * stride + from + whole;
                    scores(scratch, tile + whole * dim, 4, dim, scratch, scaled + h * dim, to);
                }
            }
        }
        for (int h = 0; h < queries; h++) {
            int to = h * stride;
            if (mask != null) {
                for (int i = 0; i < count; i++) {
                    scratch[to + i] += mask[maskOffset + columns[columnsOffset + i]];
                }
            }
            float inverse = 1f / expSum(scratch, to, count, max(scratch, to, count, sums), sums);
            // The query is no longer needed.
            scratch[scaled + h * dim] = inverse;
        }
        java.util.Arrays.fill(scratch, mixed, mixed + queries * dim, 0f);
        for (int from = 0; from < count; from += TILE) {
            int size = Math.min(TILE, count - from);
            int at = columnsOffset + from;
            boolean direct = direct(values, columns, at, size);
            float[] rows = direct ? (float[]) values : scratch;
            int base = direct ? valueOffset + columns[at] * dim : tile;
            if (!direct) {
                gather(values, valueOffset, columns, at, 0, size, dim, scratch, tile);
            }
            int h = 0;
            for (; h + 2 <= queries; h += 2) {
                int weights = h * stride + from;
                two(rows, base, size, dim, scratch, weights, weights + stride, mixed + h * dim);
            }
            if (h < queries) {
                one(rows, base, size, dim, scratch, h * stride + from, mixed + h * dim);
            }
        }
        for (int h = 0; h < queries; h++) {
            FloatVector inverse = FloatVector.broadcast(FS, scratch[scaled + h * dim]);
            for (int d = 0; d < dim; d += V) {
                FloatVector.fromArray(FS, scratch, mixed + h * dim + d)
                        .mul(inverse)
                        .intoArray(out, outOffset + h * queryStride + d);
            }
        }
    }

    /** Whether some columns can be read where they lie: fp32, and one behind the other. */
    private static boolean direct(Object memory, int[] columns, int at, int size) {
        return memory instanceof float[] && columns[at + size - 1] - columns[at] == size - 1;
    }

    /** Copies columns {@code from} to {@code to} of a tile to their places in it, as fp32. */
    private static void gather(
            Object memory, int offset, int[] columns, int at, int from, int to, int dim, float[] scratch, int tile) {
        if (memory instanceof short[] halves && columns[at + to - 1] - columns[at + from] == to - 1 - from) {
            int first = offset + columns[at + from] * dim;
            ScalarKernels.halves(halves, first, scratch, tile + from * dim, (to - from) * dim);
            return;
        }
        for (int i = from; i < to; i++) {
            int row = offset + columns[at + i] * dim;
            if (memory instanceof short[] halves) {
                ScalarKernels.halves(halves, row, scratch, tile + i * dim, dim);
            } else {
                System.arraycopy((float[]) memory, row, scratch, tile + i * dim, dim);
            }
        }
    }

    /** Scores of a multiple of four columns that lie one behind the other. */
    private static void scores(float[] k, int base, int count, int dim, float[] q, int query, int to) {
        if (V == 16 && dim == 64) {
            scores64(k, base, count, q, query, to);
            return;
        }
        for (int i = 0; i < count; i += 4) {
            int a = base + i * dim;
            four(k, a, a + dim, a + 2 * dim, a + 3 * dim, q, query, dim).intoArray(q, to + i);
        }
    }

    /** As {@link #four} for the usual size of a head, without a loop in the loop. */
    private static void scores64(float[] k, int base, int count, float[] q, int query, int to) {
        FloatVector q0 = FloatVector.fromArray(FS, q, query);
        FloatVector q1 = FloatVector.fromArray(FS, q, query + 16);
        FloatVector q2 = FloatVector.fromArray(FS, q, query + 32);
        FloatVector q3 = FloatVector.fromArray(FS, q, query + 48);
        FloatVector zero = FloatVector.zero(FS);
        for (int i = 0; i < count; i += 4) {
            int at = base + i * 64;
            FloatVector s0 = q0.fma(FloatVector.fromArray(FS, k, at), zero);
            FloatVector s1 = q0.fma(FloatVector.fromArray(FS, k, at + 64), zero);
            FloatVector s2 = q0.fma(FloatVector.fromArray(FS, k, at + 128), zero);
            FloatVector s3 = q0.fma(FloatVector.fromArray(FS, k, at + 192), zero);
            s0 = q1.fma(FloatVector.fromArray(FS, k, at + 16), s0);
            s1 = q1.fma(FloatVector.fromArray(FS, k, at + 80), s1);
            s2 = q1.fma(FloatVector.fromArray(FS, k, at + 144), s2);
            s3 = q1.fma(FloatVector.fromArray(FS, k, at + 208), s3);
            s0 = q2.fma(FloatVector.fromArray(FS, k, at + 32), s0);
            s1 = q2.fma(FloatVector.fromArray(FS, k, at + 96), s1);
            s2 = q2.fma(FloatVector.fromArray(FS, k, at + 160), s2);
            s3 = q2.fma(FloatVector.fromArray(FS, k, at + 224), s3);
            s0 = q3.fma(FloatVector.fromArray(FS, k, at + 48), s0);
            s1 = q3.fma(FloatVector.fromArray(FS, k, at + 112), s1);
            s2 = q3.fma(FloatVector.fromArray(FS, k, at + 176), s2);
            s3 = q3.fma(FloatVector.fromArray(FS, k, at + 240), s3);
            FloatVector even = s0.blend(s2, ODD_2).add(s2.blend(s0, ODD_2).rearrange(BY_2));
            FloatVector odd = s1.blend(s3, ODD_2).add(s3.blend(s1, ODD_2).rearrange(BY_2));
            FloatVector sum = even.blend(odd, ODD_1).add(odd.blend(even, ODD_1).rearrange(BY_1));
            sum = sum.add(sum.rearrange(BY_8));
            sum.add(sum.rearrange(BY_4)).intoArray(q, to + i);
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

    private static float max(float[] scores, int at, int count, int spare) {
        float max = Float.NEGATIVE_INFINITY;
        int i = 0;
        if (count >= V) {
            FloatVector most = FloatVector.fromArray(FS, scores, at);
            for (i = V; i + V <= count; i += V) {
                FloatVector next = FloatVector.fromArray(FS, scores, at + i);
                most = most.blend(next, next.compare(VectorOperators.GT, most));
            }
            most.intoArray(scores, spare);
            for (int lane = 0; lane < V; lane++) {
                max = Math.max(max, scores[spare + lane]);
            }
        }
        for (; i < count; i++) {
            max = Math.max(max, scores[at + i]);
        }
        return max;
    }

    /** As {@link ScalarKernels#expSum}. */
    private static float expSum(float[] scores, int at, int count, float max, int sums) {
        int whole = count - count % L;
        FloatVector least = FloatVector.broadcast(FS, max);
        for (int part = 0; part < L; part += V) {
            FloatVector sum = FloatVector.zero(FS);
            for (int i = part; i < whole; i += L) {
                FloatVector e = VectorForms.expOfNegative(
                        FloatVector.fromArray(FS, scores, at + i).sub(least));
                e.intoArray(scores, at + i);
                sum = sum.add(e);
            }
            sum.intoArray(scores, sums + part);
        }
        for (int i = whole; i < count; i++) {
            scores[at + i] = Maths.exp(scores[at + i] - max);
            scores[sums + i % L] += scores[at + i];
        }
        return Lanes.fold(scores, sums);
    }

    /** Adds values by their weights to the mixes of two queries, one behind the other from {@code to}. */
    private static void two(float[] v, int base, int count, int dim, float[] w, int first, int second, int to) {
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            int other = to + dim + d;
            FloatVector a0 = FloatVector.fromArray(FS, w, to + d);
            FloatVector a1 = FloatVector.fromArray(FS, w, to + d + V);
            FloatVector a2 = FloatVector.fromArray(FS, w, to + d + 2 * V);
            FloatVector a3 = FloatVector.fromArray(FS, w, to + d + 3 * V);
            FloatVector b0 = FloatVector.fromArray(FS, w, other);
            FloatVector b1 = FloatVector.fromArray(FS, w, other + V);
            FloatVector b2 = FloatVector.fromArray(FS, w, other + 2 * V);
            FloatVector b3 = FloatVector.fromArray(FS, w, other + 3 * V);
            for (int i = 0; i < count; i++) {
                int at = base + i * dim + d;
                FloatVector wa = FloatVector.broadcast(FS, w[first + i]);
                FloatVector wb = FloatVector.broadcast(FS, w[second + i]);
                FloatVector value = FloatVector.fromArray(FS, v, at);
                a0 = wa.fma(value, a0);
                b0 = wb.fma(value, b0);
                value = FloatVector.fromArray(FS, v, at + V);
                a1 = wa.fma(value, a1);
                b1 = wb.fma(value, b1);
                value = FloatVector.fromArray(FS, v, at + 2 * V);
                a2 = wa.fma(value, a2);
                b2 = wb.fma(value, b2);
                value = FloatVector.fromArray(FS, v, at + 3 * V);
                a3 = wa.fma(value, a3);
                b3 = wb.fma(value, b3);
            }
            a0.intoArray(w, to + d);
            a1.intoArray(w, to + d + V);
            a2.intoArray(w, to + d + 2 * V);
            a3.intoArray(w, to + d + 3 * V);
            b0.intoArray(w, other);
            b1.intoArray(w, other + V);
            b2.intoArray(w, other + 2 * V);
            b3.intoArray(w, other + 3 * V);
        }
        narrow(v, base, count, dim, d, w, first, to);
        narrow(v, base, count, dim, d, w, second, to + dim);
    }

    /** As {@link #two} for one query. */
    private static void one(float[] v, int base, int count, int dim, float[] w, int first, int to) {
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            FloatVector a0 = FloatVector.fromArray(FS, w, to + d);
            FloatVector a1 = FloatVector.fromArray(FS, w, to + d + V);
            FloatVector a2 = FloatVector.fromArray(FS, w, to + d + 2 * V);
            FloatVector a3 = FloatVector.fromArray(FS, w, to + d + 3 * V);
            for (int i = 0; i < count; i++) {
                int at = base + i * dim + d;
                FloatVector wa = FloatVector.broadcast(FS, w[first + i]);
                a0 = wa.fma(FloatVector.fromArray(FS, v, at), a0);
                a1 = wa.fma(FloatVector.fromArray(FS, v, at + V), a1);
                a2 = wa.fma(FloatVector.fromArray(FS, v, at + 2 * V), a2);
                a3 = wa.fma(FloatVector.fromArray(FS, v, at + 3 * V), a3);
            }
            a0.intoArray(w, to + d);
            a1.intoArray(w, to + d + V);
            a2.intoArray(w, to + d + 2 * V);
            a3.intoArray(w, to + d + 3 * V);
        }
        narrow(v, base, count, dim, d, w, first, to);
    }

    /** The dimensions from {@code d} on, one vector at a time. */
    private static void narrow(float[] v, int base, int count, int dim, int d, float[] w, int weights, int to) {
        for (; d < dim; d += V) {
            FloatVector sum = FloatVector.fromArray(FS, w, to + d);
            for (int i = 0; i < count; i++) {
                FloatVector weight = FloatVector.broadcast(FS, w[weights + i]);
                sum = weight.fma(FloatVector.fromArray(FS, v, base + i * dim + d), sum);
            }
            sum.intoArray(w, to + d);
        }
    }
}
