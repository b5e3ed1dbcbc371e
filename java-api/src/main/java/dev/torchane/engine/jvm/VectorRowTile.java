package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** One tile of {@link VectorTiles}: some rows times three vectors of outputs, whose sums stay in registers. */
final class VectorRowTile {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;

    private VectorRowTile() {}

    /**
     * Rows 0 to {@code last} (the last repeated up to eight) with one block of three vectors of outputs: what the sums,
     * {@code [8][3][V]} from {@code to}, grow by is the block's products, times its factors.
     *
     * @param factors where in {@code sums} the factors of the first vector stand, {@code tableSize} before those of the next
     */
    static void eight(
            float[] x,
            int from,
            int stride,
            int last,
            float[] w,
            int a,
            int b,
            int c,
            int inputs,
            float[] sums,
            int to,
            int factors,
            int tableSize) {
        int r1 = from + Math.min(1, last) * stride;
        int r2 = from + Math.min(2, last) * stride;
        int r3 = from + Math.min(3, last) * stride;
        int r4 = from + Math.min(4, last) * stride;
        int r5 = from + Math.min(5, last) * stride;
        int r6 = from + Math.min(6, last) * stride;
        int r7 = from + Math.min(7, last) * stride;
        FloatVector a0 = FloatVector.zero(FS);
        FloatVector b0 = a0;
        FloatVector c0 = a0;
        FloatVector a1 = a0;
        FloatVector b1 = a0;
        FloatVector c1 = a0;
        FloatVector a2 = a0;
        FloatVector b2 = a0;
        FloatVector c2 = a0;
        FloatVector a3 = a0;
        FloatVector b3 = a0;
        FloatVector c3 = a0;
        FloatVector a4 = a0;
        FloatVector b4 = a0;
        FloatVector c4 = a0;
        FloatVector a5 = a0;
        FloatVector b5 = a0;
        FloatVector c5 = a0;
        FloatVector a6 = a0;
        FloatVector b6 = a0;
        FloatVector c6 = a0;
        FloatVector a7 = a0;
        FloatVector b7 = a0;
        FloatVector c7 = a0;
        for (int k = 0; k < inputs; k++) {
            FloatVector wa = FloatVector.fromArray(FS, w, a + k * L);
            FloatVector wb = FloatVector.fromArray(FS, w, b + k * L);
            FloatVector wc = FloatVector.fromArray(FS, w, c + k * L);
            FloatVector v = FloatVector.broadcast(FS, x[from + k]);
            a0 = wa.fma(v, a0);
            b0 = wb.fma(v, b0);
            c0 = wc.fma(v, c0);
            v = FloatVector.broadcast(FS, x[r1 + k]);
            a1 = wa.fma(v, a1);
            b1 = wb.fma(v, b1);
            c1 = wc.fma(v, c1);
            v = FloatVector.broadcast(FS, x[r2 + k]);
            a2 = wa.fma(v, a2);
            b2 = wb.fma(v, b2);
            c2 = wc.fma(v, c2);
            v = FloatVector.broadcast(FS, x[r3 + k]);
            a3 = wa.fma(v, a3);
            b3 = wb.fma(v, b3);
            c3 = wc.fma(v, c3);
            v = FloatVector.broadcast(FS, x[r4 + k]);
            a4 = wa.fma(v, a4);
            b4 = wb.fma(v, b4);
            c4 = wc.fma(v, c4);
            v = FloatVector.broadcast(FS, x[r5 + k]);
            a5 = wa.fma(v, a5);
            b5 = wb.fma(v, b5);
            c5 = wc.fma(v, c5);
            v = FloatVector.broadcast(FS, x[r6 + k]);
            a6 = wa.fma(v, a6);
            b6 = wb.fma(v, b6);
            c6 = wc.fma(v, c6);
            v = FloatVector.broadcast(FS, x[r7 + k]);
            a7 = wa.fma(v, a7);
            b7 = wb.fma(v, b7);
            c7 = wc.fma(v, c7);
        }
        FloatVector factorA = FloatVector.fromArray(FS, sums, factors);
        FloatVector factorB = FloatVector.fromArray(FS, sums, factors + tableSize);
        FloatVector factorC = FloatVector.fromArray(FS, sums, factors + 2 * tableSize);
        factorA.fma(a0, FloatVector.fromArray(FS, sums, to)).intoArray(sums, to);
        factorB.fma(b0, FloatVector.fromArray(FS, sums, to + V)).intoArray(sums, to + V);
        factorC.fma(c0, FloatVector.fromArray(FS, sums, to + 2 * V)).intoArray(sums, to + 2 * V);
        factorA.fma(a1, FloatVector.fromArray(FS, sums, to + 3 * V)).intoArray(sums, to + 3 * V);
        factorB.fma(b1, FloatVector.fromArray(FS, sums, to + 4 * V)).intoArray(sums, to + 4 * V);
        factorC.fma(c1, FloatVector.fromArray(FS, sums, to + 5 * V)).intoArray(sums, to + 5 * V);
        factorA.fma(a2, FloatVector.fromArray(FS, sums, to + 6 * V)).intoArray(sums, to + 6 * V);
        factorB.fma(b2, FloatVector.fromArray(FS, sums, to + 7 * V)).intoArray(sums, to + 7 * V);
        factorC.fma(c2, FloatVector.fromArray(FS, sums, to + 8 * V)).intoArray(sums, to + 8 * V);
        factorA.fma(a3, FloatVector.fromArray(FS, sums, to + 9 * V)).intoArray(sums, to + 9 * V);
        factorB.fma(b3, FloatVector.fromArray(FS, sums, to + 10 * V)).intoArray(sums, to + 10 * V);
        factorC.fma(c3, FloatVector.fromArray(FS, sums, to + 11 * V)).intoArray(sums, to + 11 * V);
        factorA.fma(a4, FloatVector.fromArray(FS, sums, to + 12 * V)).intoArray(sums, to + 12 * V);
        factorB.fma(b4, FloatVector.fromArray(FS, sums, to + 13 * V)).intoArray(sums, to + 13 * V);
        factorC.fma(c4, FloatVector.fromArray(FS, sums, to + 14 * V)).intoArray(sums, to + 14 * V);
        factorA.fma(a5, FloatVector.fromArray(FS, sums, to + 15 * V)).intoArray(sums, to + 15 * V);
        factorB.fma(b5, FloatVector.fromArray(FS, sums, to + 16 * V)).intoArray(sums, to + 16 * V);
        factorC.fma(c5, FloatVector.fromArray(FS, sums, to + 17 * V)).intoArray(sums, to + 17 * V);
        factorA.fma(a6, FloatVector.fromArray(FS, sums, to + 18 * V)).intoArray(sums, to + 18 * V);
        factorB.fma(b6, FloatVector.fromArray(FS, sums, to + 19 * V)).intoArray(sums, to + 19 * V);
        factorC.fma(c6, FloatVector.fromArray(FS, sums, to + 20 * V)).intoArray(sums, to + 20 * V);
        factorA.fma(a7, FloatVector.fromArray(FS, sums, to + 21 * V)).intoArray(sums, to + 21 * V);
        factorB.fma(b7, FloatVector.fromArray(FS, sums, to + 22 * V)).intoArray(sums, to + 22 * V);
        factorC.fma(c7, FloatVector.fromArray(FS, sums, to + 23 * V)).intoArray(sums, to + 23 * V);
    }

    /** As {@link #eight}, four rows. */
    static void four(
            float[] x,
            int from,
            int stride,
            int last,
            float[] w,
            int a,
            int b,
            int c,
            int inputs,
            float[] sums,
            int to,
            int factors,
            int tableSize) {
        int r1 = from + Math.min(1, last) * stride;
        int r2 = from + Math.min(2, last) * stride;
        int r3 = from + Math.min(3, last) * stride;
        FloatVector a0 = FloatVector.zero(FS);
        FloatVector b0 = a0;
        FloatVector c0 = a0;
        FloatVector a1 = a0;
        FloatVector b1 = a0;
        FloatVector c1 = a0;
        FloatVector a2 = a0;
        FloatVector b2 = a0;
        FloatVector c2 = a0;
        FloatVector a3 = a0;
        FloatVector b3 = a0;
        FloatVector c3 = a0;
        for (int k = 0; k < inputs; k++) {
            FloatVector wa = FloatVector.fromArray(FS, w, a + k * L);
            FloatVector wb = FloatVector.fromArray(FS, w, b + k * L);
            FloatVector wc = FloatVector.fromArray(FS, w, c + k * L);
            FloatVector v = FloatVector.broadcast(FS, x[from + k]);
            a0 = wa.fma(v, a0);
            b0 = wb.fma(v, b0);
            c0 = wc.fma(v, c0);
            v = FloatVector.broadcast(FS, x[r1 + k]);
            a1 = wa.fma(v, a1);
            b1 = wb.fma(v, b1);
            c1 = wc.fma(v, c1);
            v = FloatVector.broadcast(FS, x[r2 + k]);
            a2 = wa.fma(v, a2);
            b2 = wb.fma(v, b2);
            c2 = wc.fma(v, c2);
            v = FloatVector.broadcast(FS, x[r3 + k]);
            a3 = wa.fma(v, a3);
            b3 = wb.fma(v, b3);
            c3 = wc.fma(v, c3);
        }
        FloatVector factorA = FloatVector.fromArray(FS, sums, factors);
        FloatVector factorB = FloatVector.fromArray(FS, sums, factors + tableSize);
        FloatVector factorC = FloatVector.fromArray(FS, sums, factors + 2 * tableSize);
        factorA.fma(a0, FloatVector.fromArray(FS, sums, to)).intoArray(sums, to);
        factorB.fma(b0, FloatVector.fromArray(FS, sums, to + V)).intoArray(sums, to + V);
        factorC.fma(c0, FloatVector.fromArray(FS, sums, to + 2 * V)).intoArray(sums, to + 2 * V);
        factorA.fma(a1, FloatVector.fromArray(FS, sums, to + 3 * V)).intoArray(sums, to + 3 * V);
        factorB.fma(b1, FloatVector.fromArray(FS, sums, to + 4 * V)).intoArray(sums, to + 4 * V);
        factorC.fma(c1, FloatVector.fromArray(FS, sums, to + 5 * V)).intoArray(sums, to + 5 * V);
        factorA.fma(a2, FloatVector.fromArray(FS, sums, to + 6 * V)).intoArray(sums, to + 6 * V);
        factorB.fma(b2, FloatVector.fromArray(FS, sums, to + 7 * V)).intoArray(sums, to + 7 * V);
        factorC.fma(c2, FloatVector.fromArray(FS, sums, to + 8 * V)).intoArray(sums, to + 8 * V);
        factorA.fma(a3, FloatVector.fromArray(FS, sums, to + 9 * V)).intoArray(sums, to + 9 * V);
        factorB.fma(b3, FloatVector.fromArray(FS, sums, to + 10 * V)).intoArray(sums, to + 10 * V);
        factorC.fma(c3, FloatVector.fromArray(FS, sums, to + 11 * V)).intoArray(sums, to + 11 * V);
    }
}
