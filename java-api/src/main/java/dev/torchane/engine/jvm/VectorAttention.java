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
    private static final int PLANE = AttentionPart.PLANE;
    private static final int SCORES = AttentionPart.SCORES;

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
                softmax(part, part.scores() + i * SCORES, count, part.outOffset + i * stride, scratch);
            }
        }
        for (int from = 0; from < most; from += TILE) {
            mixTile(part, from, Math.min(TILE, most - from), scratch);
        }
    }

    private static void scoreTile(AttentionPart part, int from, int size, float[] scratch) {
        int dim = part.dim;
        int queries = part.queries();
        float[] rows = VectorTile.load(part, part.keys, part.keyOffset, from, size, scratch);
        int base = rows == scratch ? part.tile() : part.keyOffset + part.column(from) * dim;
        int i = 0;
        if (V == L && dim % PLANE == 0) {
            for (; i + 3 <= queries; i += 3) {
                if (part.count(i + 2) > from) {
                    scores(rows, base, size, dim, scratch, i * dim, part.scores() + i * SCORES + from);
                }
            }
        }
        for (; i < queries; i++) {
            if (part.count(i) > from) {
                score(rows, base, size, dim, scratch, i * dim, part.scores() + i * SCORES + from);
            }
        }
        if (part.keys instanceof byte[]) {
            multiply(part, from, scratch);
        }
    }

    private static void softmax(AttentionPart part, int scores, int count, int to, float[] scratch) {
        if (part.mask != null) {
            for (int i = 0; i < count; i++) {
                scratch[scores + i] += part.mask[part.maskOffset + part.column(i)];
            }
        }
        float max = max(scratch, scores, count);
        part.out[to + part.dim] = expSum(scratch, scores, count, max, part.sums());
        part.out[to + part.dim + 1] = max;
        java.util.Arrays.fill(part.out, to, to + part.dim, 0f);
    }

    private static void mixTile(AttentionPart part, int from, int size, float[] scratch) {
        int dim = part.dim;
        float[] rows = VectorTile.load(part, part.values, part.valueOffset, from, size, scratch);
        int base = rows == scratch ? part.tile() : part.valueOffset + part.column(from) * dim;
        if (part.values instanceof byte[]) {
            multiply(part, from, scratch);
        }
        int stride = AttentionPart.stride(dim);
        int queries = part.queries();
        int together;
        for (int i = 0; i < queries; i += together) {
            int left = queries - i;
            together = left == 3 || left > 4 ? 3 : Math.min(left, 2);
            int weights = part.scores() + i * SCORES + from;
            int to = part.outOffset + i * stride;
            // The first of them has the fewest columns.
            int common = Math.clamp(part.count(i) - from, 0, size);
            if (common > 0) {
                VectorMix.mix(together, rows, base, common, dim, scratch, weights, part.out, to);
            }
            for (int next = 1; next < together; next++) {
                int more = Math.clamp(part.count(i + next) - from, 0, size) - common;
                if (more > 0) {
                    int weight = weights + next * SCORES + common;
                    VectorMix.mix(
                            1, rows, base + common * PLANE, more, dim, scratch, weight, part.out, to + next * stride);
                }
            }
        }
    }

    /** Multiplies the numbers of a tile of columns by their factors, for all queries. */
    private static void multiply(AttentionPart part, int from, float[] scratch) {
        int factors = part.factors();
        for (int query = 0; query < part.queries(); query++) {
            int at = part.scores() + query * SCORES + from;
            for (int i = 0; i < TILE; i += V) {
                FloatVector.fromArray(FS, scratch, at + i)
                        .mul(FloatVector.fromArray(FS, scratch, factors + i))
                        .intoArray(scratch, at + i);
            }
        }
    }

    /** Scores of three queries over the columns of a tile, of a multiple of four of them at least. */
    private static void scores(float[] k, int base, int count, int dim, float[] q, int query, int to) {
        int second = query + dim;
        int third = second + dim;
        for (int i = 0; i < count; i += 4) {
            FloatVector a0 = FloatVector.zero(FS);
            FloatVector a1 = a0;
            FloatVector a2 = a0;
            FloatVector a3 = a0;
            FloatVector b0 = a0;
            FloatVector b1 = a0;
            FloatVector b2 = a0;
            FloatVector b3 = a0;
            FloatVector c0 = a0;
            FloatVector c1 = a0;
            FloatVector c2 = a0;
            FloatVector c3 = a0;
            for (int plane = 0; plane < dim; plane += PLANE) {
                int at = base + plane * TILE + i * PLANE;
                for (int d = 0; d < PLANE; d += L) {
                    FloatVector qa = FloatVector.fromArray(FS, q, query + plane + d);
                    FloatVector qb = FloatVector.fromArray(FS, q, second + plane + d);
                    FloatVector qc = FloatVector.fromArray(FS, q, third + plane + d);
                    FloatVector key = FloatVector.fromArray(FS, k, at + d);
                    a0 = key.fma(qa, a0);
                    b0 = key.fma(qb, b0);
                    c0 = key.fma(qc, c0);
                    key = FloatVector.fromArray(FS, k, at + PLANE + d);
                    a1 = key.fma(qa, a1);
                    b1 = key.fma(qb, b1);
                    c1 = key.fma(qc, c1);
                    key = FloatVector.fromArray(FS, k, at + 2 * PLANE + d);
                    a2 = key.fma(qa, a2);
                    b2 = key.fma(qb, b2);
                    c2 = key.fma(qc, c2);
                    key = FloatVector.fromArray(FS, k, at + 3 * PLANE + d);
                    a3 = key.fma(qa, a3);
                    b3 = key.fma(qb, b3);
                    c3 = key.fma(qc, c3);
                }
            }
            fold(a0, a1, a2, a3).intoArray(q, to + i);
            fold(b0, b1, b2, b3).intoArray(q, to + SCORES + i);
            fold(c0, c1, c2, c3).intoArray(q, to + 2 * SCORES + i);
        }
    }

    /** Sums of four vectors of {@link Lanes#COUNT} lanes, in lanes 0 to 3: folded over 2, 1, 8 and 4 lanes. */
    private static FloatVector fold(FloatVector s0, FloatVector s1, FloatVector s2, FloatVector s3) {
        FloatVector sum = quarter(s0, s1, s2, s3);
        sum = sum.add(sum.rearrange(BY_8));
        return sum.add(sum.rearrange(BY_4));
    }

    /** Four vectors folded over 2 and 1 lanes, so that lane i belongs to vector i mod 4. */
    private static FloatVector quarter(FloatVector s0, FloatVector s1, FloatVector s2, FloatVector s3) {
        FloatVector even = s0.blend(s2, ODD_2).add(s2.blend(s0, ODD_2).rearrange(BY_2));
        FloatVector odd = s1.blend(s3, ODD_2).add(s3.blend(s1, ODD_2).rearrange(BY_2));
        return even.blend(odd, ODD_1).add(odd.blend(even, ODD_1).rearrange(BY_1));
    }

    /** Scores of one query over the columns of a tile, of a multiple of four of them at least. */
    private static void score(float[] k, int base, int count, int dim, float[] q, int query, int to) {
        for (int i = 0; i < count; i += 4) {
            int at = base + i * PLANE;
            if (V == 16) {
                FloatVector sum = lanes(k, at, q, query, dim);
                sum = sum.add(sum.rearrange(BY_8));
                sum.add(sum.rearrange(BY_4)).intoArray(q, to + i);
            } else if (V == 8) {
                FloatVector sum = lanes(k, at, q, query, dim).add(lanes(k, at + 8, q, query + 8, dim));
                sum.add(sum.rearrange(BY_4)).intoArray(q, to + i);
            } else {
                FloatVector even = lanes(k, at, q, query, dim).add(lanes(k, at + 8, q, query + 8, dim));
                FloatVector odd = lanes(k, at + 4, q, query + 4, dim).add(lanes(k, at + 12, q, query + 12, dim));
                even.add(odd).intoArray(q, to + i);
            }
        }
    }

    /** Sums of four columns over every sixteenth lane from some on, folded so that lane i belongs to column i mod 4. */
    private static FloatVector lanes(float[] k, int at, float[] q, int query, int dim) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int plane = 0; plane < dim; plane += PLANE) {
            int from = at + plane * TILE;
            int end = Math.min(PLANE, dim - plane);
            for (int d = 0; d < end; d += L) {
                FloatVector value = FloatVector.fromArray(FS, q, query + plane + d);
                s0 = value.fma(FloatVector.fromArray(FS, k, from + d), s0);
                s1 = value.fma(FloatVector.fromArray(FS, k, from + PLANE + d), s1);
                s2 = value.fma(FloatVector.fromArray(FS, k, from + 2 * PLANE + d), s2);
                s3 = value.fma(FloatVector.fromArray(FS, k, from + 3 * PLANE + d), s3);
            }
        }
        return quarter(s0, s1, s2, s3);
    }

    private static float max(float[] scores, int at, int count) {
        float max = Float.NEGATIVE_INFINITY;
        int i = 0;
        if (count >= V) {
            FloatVector most = FloatVector.fromArray(FS, scores, at);
            for (i = V; i + V <= count; i += V) {
                most = most.max(FloatVector.fromArray(FS, scores, at + i));
            }
            max = most.reduceLanes(VectorOperators.MAX);
        }
        for (; i < count; i++) {
            max = Math.max(max, scores[at + i]);
        }
        return max;
    }

    /** As {@link Kernels#expSum}. */
    static float expSum(float[] scores, int at, int count, int spare) {
        return expSum(scores, at, count, max(scores, at, count), spare);
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
}
