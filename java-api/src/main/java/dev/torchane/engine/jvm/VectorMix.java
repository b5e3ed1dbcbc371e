package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Adds the values of a tile of columns, by their weights, to the mixes of one, two or three queries. */
final class VectorMix {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int PLANE = AttentionPart.PLANE;

    private VectorMix() {}

    /**
     * Adds values to mixes.
     *
     * @param queries 1, 2 or 3
     * @param v a tile's columns, {@link AttentionPart#PLANE} dimensions at a time
     * @param base the first column
     * @param w weights of the first query from {@code weights} on; those of the next stand {@link AttentionPart#SCORES} further
     * @param out mixes of the first query from {@code to} on; those of the next stand {@link AttentionPart#stride} further
     */
    static void mix(int queries, float[] v, int base, int count, int dim, float[] w, int weights, float[] out, int to) {
        int stride = AttentionPart.stride(dim);
        for (int plane = 0; plane < dim; plane += PLANE) {
            int at = base + plane * AttentionPart.TILE;
            if (plane + PLANE > dim) {
                for (int query = 0; query < queries; query++) {
                    int weight = weights + query * AttentionPart.SCORES;
                    narrow(v, at, count, dim - plane, w, weight, out, to + query * stride + plane);
                }
                return;
            }
            for (int d = 0; d < PLANE; d += 4 * V) {
                switch (queries) {
                    case 3 -> three(v, at + d, count, w, weights, out, to + plane + d, stride);
                    case 2 -> two(v, at + d, count, w, weights, out, to + plane + d, stride);
                    default -> one(v, at + d, count, w, weights, out, to + plane + d);
                }
            }
        }
    }

    private static void three(float[] v, int base, int count, float[] w, int weights, float[] out, int to, int stride) {
        int second = weights + AttentionPart.SCORES;
        int third = second + AttentionPart.SCORES;
        int a = to;
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
            int at = base + i * PLANE;
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

    private static void two(float[] v, int base, int count, float[] w, int weights, float[] out, int to, int stride) {
        int second = weights + AttentionPart.SCORES;
        int a = to;
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
            int at = base + i * PLANE;
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

    private static void one(float[] v, int base, int count, float[] w, int weights, float[] out, int to) {
        FloatVector a0 = FloatVector.fromArray(FS, out, to);
        FloatVector a1 = FloatVector.fromArray(FS, out, to + V);
        FloatVector a2 = FloatVector.fromArray(FS, out, to + 2 * V);
        FloatVector a3 = FloatVector.fromArray(FS, out, to + 3 * V);
        for (int i = 0; i < count; i++) {
            int at = base + i * PLANE;
            FloatVector wa = FloatVector.broadcast(FS, w[weights + i]);
            a0 = wa.fma(FloatVector.fromArray(FS, v, at), a0);
            a1 = wa.fma(FloatVector.fromArray(FS, v, at + V), a1);
            a2 = wa.fma(FloatVector.fromArray(FS, v, at + 2 * V), a2);
            a3 = wa.fma(FloatVector.fromArray(FS, v, at + 3 * V), a3);
        }
        a0.intoArray(out, to);
        a1.intoArray(out, to + V);
        a2.intoArray(out, to + 2 * V);
        a3.intoArray(out, to + 3 * V);
    }

    /** Fewer dimensions than a plane has, one vector at a time. */
    private static void narrow(float[] v, int base, int count, int dim, float[] w, int weights, float[] out, int to) {
        for (int d = 0; d < dim; d += V) {
            FloatVector sum = FloatVector.fromArray(FS, out, to + d);
            for (int i = 0; i < count; i++) {
                FloatVector weight = FloatVector.broadcast(FS, w[weights + i]);
                sum = weight.fma(FloatVector.fromArray(FS, v, base + i * PLANE + d), sum);
            }
            sum.intoArray(out, to + d);
        }
    }
}
