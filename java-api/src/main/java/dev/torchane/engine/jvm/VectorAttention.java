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

    private static final int TILE = AttentionPart.TILE;

    static void part(AttentionPart part, float[] scratch) {
        int dim = part.dim;
        int queries = part.queries();
        for (int i = 0; i < queries; i++) {
            int query = part.query(i);
            for (int d = 0; d < dim; d += V) {
                FloatVector.fromArray(FS, part.q, query + d).mul(part.scale).intoArray(scratch, i * dim + d);
            }
        }
        int most = part.most();
        for (int from = 0; from < most; from += TILE) {
            scoreTile(part, from, Math.min(TILE, most - from), scratch);
        }
        int stride = AttentionPart.stride(dim);
        for (int i = 0; i < queries; i++) {
            int count = part.count(i);
            if (count > 0) {
                softmax(part, part.scores() + i * AttentionPart.SCORES, count, part.outOffset + i * stride, scratch);
            }
        }
        for (int from = 0; from < most; from += TILE) {
            mixTile(part, from, Math.min(TILE, most - from), scratch);
        }
    }

    private static void scoreTile(AttentionPart part, int from, int size, float[] scratch) {
        int dim = part.dim;
        float[] rows = tile(part, part.keys, part.keyOffset, from, size, scratch);
        int base = rows == scratch ? part.tile() : part.keyOffset + part.column(from) * dim;
        boolean factors = part.keys instanceof byte[];
        for (int i = 0; i < part.queries(); i++) {
            if (part.count(i) > from) {
                int to = part.scores() + i * AttentionPart.SCORES + from;
                scores(rows, base, size, dim, scratch, i * dim, to);
                if (factors) {
                    multiply(scratch, to, part.factors());
                }
            }
        }
    }

    private static void softmax(AttentionPart part, int scores, int count, int to, float[] scratch) {
        if (part.mask != null) {
            for (int i = 0; i < count; i++) {
                scratch[scores + i] += part.mask[part.maskOffset + part.column(i)];
            }
        }
        float max = max(scratch, scores, count, part.sums());
        part.out[to + part.dim] = expSum(scratch, scores, count, max, part.sums());
        part.out[to + part.dim + 1] = max;
        java.util.Arrays.fill(part.out, to, to + part.dim, 0f);
    }

    private static void mixTile(AttentionPart part, int from, int size, float[] scratch) {
        int dim = part.dim;
        float[] rows = tile(part, part.values, part.valueOffset, from, size, scratch);
        int base = rows == scratch ? part.tile() : part.valueOffset + part.column(from) * dim;
        int queries = part.queries();
        if (part.values instanceof byte[]) {
            for (int i = 0; i < queries; i++) {
                multiply(scratch, part.scores() + i * AttentionPart.SCORES + from, part.factors());
            }
        }
        int stride = AttentionPart.stride(dim);
        int together;
        for (int i = 0; i < queries; i += together) {
            int left = queries - i;
            together = left == 3 || left > 4 ? 3 : Math.min(left, 2);
            int weights = part.scores() + i * AttentionPart.SCORES + from;
            int to = part.outOffset + i * stride;
            // The first of them has the fewest columns.
            int common = Math.clamp(part.count(i) - from, 0, size);
            if (common > 0) {
                switch (together) {
                    case 3 -> three(rows, base, common, dim, scratch, weights, part.out, to);
                    case 2 -> two(rows, base, common, dim, scratch, weights, part.out, to);
                    default -> one(rows, base, common, dim, scratch, weights, part.out, to);
                }
            }
            for (int next = 1; next < together; next++) {
                int more = Math.clamp(part.count(i + next) - from, 0, size) - common;
                if (more > 0) {
                    int weight = weights + next * AttentionPart.SCORES + common;
                    one(rows, base + common * dim, more, dim, scratch, weight, part.out, to + next * stride);
                }
            }
        }
    }

    /** Multiplies the numbers of a tile by the factors of its columns. */
    private static void multiply(float[] scratch, int at, int factors) {
        for (int i = 0; i < TILE; i += V) {
            FloatVector.fromArray(FS, scratch, at + i)
                    .mul(FloatVector.fromArray(FS, scratch, factors + i))
                    .intoArray(scratch, at + i);
        }
    }

    /**
     * Some columns one behind the other in fp32, a multiple of four of them: where they lie, or in the tile of the scratch
     * memory, without the factors, which go to their place.
     */
    private static float[] tile(AttentionPart part, Object memory, int offset, int from, int size, float[] scratch) {
        int dim = part.dim;
        boolean consecutive = part.consecutive(from, size);
        switch (memory) {
            case short[] halves -> {
                if (consecutive) {
                    int first = offset + part.column(from) * dim;
                    ScalarKernels.halves(halves, first, scratch, part.tile(), size * dim);
                } else {
                    for (int i = 0; i < size; i++) {
                        int first = offset + part.column(from + i) * dim;
                        for (int d = 0; d < dim; d += V) {
                            VectorForms.halves(halves, first + d).intoArray(scratch, part.tile() + i * dim + d);
                        }
                    }
                }
            }
            case byte[] bytes -> {
                int stride = QuantizedRows.stride(dim);
                for (int i = 0; i < size; i++) {
                    int first = offset + part.column(from + i) * stride;
                    scratch[part.factors() + i] = QuantizedRows.factor(bytes, first, dim);
                    for (int d = 0; d < dim; d += V) {
                        VectorForms.bytes(bytes, first + d).intoArray(scratch, part.tile() + i * dim + d);
                    }
                }
            }
            default -> {
                if (consecutive && size % 4 == 0) {
                    return (float[]) memory;
                }
                for (int i = 0; i < size; i++) {
                    int first = offset + part.column(from + i) * dim;
                    System.arraycopy((float[]) memory, first, scratch, part.tile() + i * dim, dim);
                }
            }
        }
        return scratch;
    }

    /** Scores of columns that lie one behind the other, of a multiple of four of them at least. */
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

    /** Replaces scores by {@code exp(score - max)} and answers their sum. */
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

    /** Adds values by their weights to the mixes of three queries. */
    private static void three(float[] v, int base, int count, int dim, float[] w, int weights, float[] out, int to) {
        int second = weights + AttentionPart.SCORES;
        int third = second + AttentionPart.SCORES;
        int stride = AttentionPart.stride(dim);
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            int a = to + d;
            int b = a + stride;
            int c = b + stride;
            FloatVector a0 = FloatVector.fromArray(FS, out, a);
            FloatVector a1 = FloatVector.fromArray(FS, out, a + V);
            FloatVector a2 = FloatVector.fromArray(FS, out, a + 2 * V);
            FloatVector a3 = FloatVector.fromArray(FS, out, a + 3 * V);
            FloatVector b0 = FloatVector.fromArray(FS, out, b);
            FloatVector b1 = FloatVector.fromArray(FS, out, b + V);
            FloatVector b2 = FloatVector.fromArray(FS, out, b + 2 * V);
            FloatVector b3 = FloatVector.fromArray(FS, out, b + 3 * V);
            FloatVector c0 = FloatVector.fromArray(FS, out, c);
            FloatVector c1 = FloatVector.fromArray(FS, out, c + V);
            FloatVector c2 = FloatVector.fromArray(FS, out, c + 2 * V);
            FloatVector c3 = FloatVector.fromArray(FS, out, c + 3 * V);
            for (int i = 0; i < count; i++) {
                int at = base + i * dim + d;
                FloatVector wa = FloatVector.broadcast(FS, w[weights + i]);
                FloatVector wb = FloatVector.broadcast(FS, w[second + i]);
                FloatVector wc = FloatVector.broadcast(FS, w[third + i]);
                FloatVector value = FloatVector.fromArray(FS, v, at);
                a0 = wa.fma(value, a0);
                b0 = wb.fma(value, b0);
                c0 = wc.fma(value, c0);
                value = FloatVector.fromArray(FS, v, at + V);
                a1 = wa.fma(value, a1);
                b1 = wb.fma(value, b1);
                c1 = wc.fma(value, c1);
                value = FloatVector.fromArray(FS, v, at + 2 * V);
                a2 = wa.fma(value, a2);
                b2 = wb.fma(value, b2);
                c2 = wc.fma(value, c2);
                value = FloatVector.fromArray(FS, v, at + 3 * V);
                a3 = wa.fma(value, a3);
                b3 = wb.fma(value, b3);
                c3 = wc.fma(value, c3);
            }
            a0.intoArray(out, a);
            a1.intoArray(out, a + V);
            a2.intoArray(out, a + 2 * V);
            a3.intoArray(out, a + 3 * V);
            b0.intoArray(out, b);
            b1.intoArray(out, b + V);
            b2.intoArray(out, b + 2 * V);
            b3.intoArray(out, b + 3 * V);
            c0.intoArray(out, c);
            c1.intoArray(out, c + V);
            c2.intoArray(out, c + 2 * V);
            c3.intoArray(out, c + 3 * V);
        }
        narrow(v, base, count, dim, d, w, weights, out, to);
        narrow(v, base, count, dim, d, w, second, out, to + stride);
        narrow(v, base, count, dim, d, w, third, out, to + 2 * stride);
    }

    /** As {@link #three} for two queries. */
    private static void two(float[] v, int base, int count, int dim, float[] w, int weights, float[] out, int to) {
        int second = weights + AttentionPart.SCORES;
        int stride = AttentionPart.stride(dim);
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            int a = to + d;
            int b = a + stride;
            FloatVector a0 = FloatVector.fromArray(FS, out, a);
            FloatVector a1 = FloatVector.fromArray(FS, out, a + V);
            FloatVector a2 = FloatVector.fromArray(FS, out, a + 2 * V);
            FloatVector a3 = FloatVector.fromArray(FS, out, a + 3 * V);
            FloatVector b0 = FloatVector.fromArray(FS, out, b);
            FloatVector b1 = FloatVector.fromArray(FS, out, b + V);
            FloatVector b2 = FloatVector.fromArray(FS, out, b + 2 * V);
            FloatVector b3 = FloatVector.fromArray(FS, out, b + 3 * V);
            for (int i = 0; i < count; i++) {
                int at = base + i * dim + d;
                FloatVector wa = FloatVector.broadcast(FS, w[weights + i]);
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
            a0.intoArray(out, a);
            a1.intoArray(out, a + V);
            a2.intoArray(out, a + 2 * V);
            a3.intoArray(out, a + 3 * V);
            b0.intoArray(out, b);
            b1.intoArray(out, b + V);
            b2.intoArray(out, b + 2 * V);
            b3.intoArray(out, b + 3 * V);
        }
        narrow(v, base, count, dim, d, w, weights, out, to);
        narrow(v, base, count, dim, d, w, second, out, to + stride);
    }

    /** As {@link #three} for one query. */
    private static void one(float[] v, int base, int count, int dim, float[] w, int weights, float[] out, int to) {
        int d = 0;
        for (; d + 4 * V <= dim; d += 4 * V) {
            FloatVector a0 = FloatVector.fromArray(FS, out, to + d);
            FloatVector a1 = FloatVector.fromArray(FS, out, to + d + V);
            FloatVector a2 = FloatVector.fromArray(FS, out, to + d + 2 * V);
            FloatVector a3 = FloatVector.fromArray(FS, out, to + d + 3 * V);
            for (int i = 0; i < count; i++) {
                int at = base + i * dim + d;
                FloatVector wa = FloatVector.broadcast(FS, w[weights + i]);
                a0 = wa.fma(FloatVector.fromArray(FS, v, at), a0);
                a1 = wa.fma(FloatVector.fromArray(FS, v, at + V), a1);
                a2 = wa.fma(FloatVector.fromArray(FS, v, at + 2 * V), a2);
                a3 = wa.fma(FloatVector.fromArray(FS, v, at + 3 * V), a3);
            }
            a0.intoArray(out, to + d);
            a1.intoArray(out, to + d + V);
            a2.intoArray(out, to + d + 2 * V);
            a3.intoArray(out, to + d + 3 * V);
        }
        narrow(v, base, count, dim, d, w, weights, out, to);
    }

    /** The dimensions from {@code d} on, one vector at a time. */
    private static void narrow(
            float[] v, int base, int count, int dim, int d, float[] w, int weights, float[] out, int to) {
        for (; d < dim; d += V) {
            FloatVector sum = FloatVector.fromArray(FS, out, to + d);
            for (int i = 0; i < count; i++) {
                FloatVector weight = FloatVector.broadcast(FS, w[weights + i]);
                sum = weight.fma(FloatVector.fromArray(FS, v, base + i * dim + d), sum);
            }
            sum.intoArray(out, to + d);
        }
    }
}
