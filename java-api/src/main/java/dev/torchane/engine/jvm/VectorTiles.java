package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Linear layers of several rows. Some inputs of two vectors of outputs are widened at a time, into the first-level cache, and
 * all rows add their products with them before the next; the sums wait in memory meanwhile.
 */
final class VectorTiles {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;
    /** Panels that are widened together: enough for two vectors. */
    private static final int GROUP = PARTS == 1 ? 2 : 1;

    /** Rows of the larger tile; 16 registers hold the sums of four rows only. */
    private static final int ROWS = V == 16 ? LinearScratch.ROWS : 4;

    private VectorTiles() {}

    static void linear(
            float[] x,
            int xOffset,
            int rows,
            Panels w,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            int outStride,
            float[] scratch) {
        int inputs = w.inputs();
        int sums = LinearScratch.tiles(w);
        for (int panel = fromPanel; panel < toPanel; panel += GROUP) {
            int panels = Math.min(GROUP, toPanel - panel);
            int vectors = panels * PARTS;
            // Room for one pair of vectors after another, each of all rows.
            int pair = Math.ceilDiv(rows, ROWS) * ROWS * 2 * V;
            java.util.Arrays.fill(scratch, sums, sums + Math.ceilDiv(vectors, 2) * pair, 0f);
            for (int i = 0; i < panels; i++) {
                w.tables(panel + i, scratch, LinearScratch.TABLES + i * w.tableSize());
            }
            for (int from = 0; from < inputs; from += LinearScratch.BLOCK) {
                int size = Math.min(inputs - from, LinearScratch.BLOCK);
                float[] wide = scratch;
                int base = LinearScratch.wide(w);
                int step = size * L;
                if (w instanceof Panels.F32 f32) {
                    wide = f32.data();
                    base = (panel * inputs + from) * L;
                    step = inputs * L;
                } else {
                    for (int i = 0; i < panels; i++) {
                        int tables = LinearScratch.TABLES + i * w.tableSize();
                        VectorWidening.widen(w, panel + i, from, from + size, scratch, tables, base + i * step);
                    }
                }
                for (int vector = 0; vector < vectors; vector += 2) {
                    int a = base + vector / PARTS * step + vector % PARTS * V;
                    int other = Math.min(vector + 1, vectors - 1);
                    int b = base + other / PARTS * step + other % PARTS * V;
                    products(x, xOffset + from, inputs, rows, wide, a, b, size, scratch, sums + vector / 2 * pair);
                }
            }
            for (int vector = 0; vector < vectors; vector++) {
                int at = sums + vector / 2 * pair + vector % 2 * V;
                int output = panel * L + vector * V;
                for (int row = 0; row < rows; row++) {
                    FloatVector value = FloatVector.fromArray(FS, scratch, at + row * 2 * V);
                    VectorKernels.finish(value, output, w, bias, biasOffset, out, outOffset + row * outStride, scratch);
                }
            }
        }
    }

    /** All rows with some inputs of two vectors of outputs. The last tile repeats its last row instead of being shorter. */
    private static void products(
            float[] x,
            int xOffset,
            int stride,
            int rows,
            float[] w,
            int a,
            int b,
            int inputs,
            float[] sums,
            int sumsOffset) {
        int row = 0;
        if (ROWS > 4) {
            for (; row + 4 < rows; row += ROWS) {
                int last = Math.min(ROWS, rows - row) - 1;
                eight(x, xOffset + row * stride, stride, last, w, a, b, inputs, sums, sumsOffset + row * 2 * V);
            }
        }
        for (; row < rows; row += 4) {
            int last = Math.min(4, rows - row) - 1;
            four(x, xOffset + row * stride, stride, last, w, a, b, inputs, sums, sumsOffset + row * 2 * V);
        }
    }

    /** Adds the products of rows 0 to {@code last} (the last repeated up to eight) to sums of two vectors of outputs, [8][2][V]. */
    private static void eight(
            float[] x, int from, int stride, int last, float[] w, int a, int b, int inputs, float[] out, int to) {
        int r1 = from + Math.min(1, last) * stride;
        int r2 = from + Math.min(2, last) * stride;
        int r3 = from + Math.min(3, last) * stride;
        int r4 = from + Math.min(4, last) * stride;
        int r5 = from + Math.min(5, last) * stride;
        int r6 = from + Math.min(6, last) * stride;
        int r7 = from + Math.min(7, last) * stride;
        FloatVector a0 = FloatVector.fromArray(FS, out, to);
        FloatVector b0 = FloatVector.fromArray(FS, out, to + V);
        FloatVector a1 = FloatVector.fromArray(FS, out, to + 2 * V);
        FloatVector b1 = FloatVector.fromArray(FS, out, to + 3 * V);
        FloatVector a2 = FloatVector.fromArray(FS, out, to + 4 * V);
        FloatVector b2 = FloatVector.fromArray(FS, out, to + 5 * V);
        FloatVector a3 = FloatVector.fromArray(FS, out, to + 6 * V);
        FloatVector b3 = FloatVector.fromArray(FS, out, to + 7 * V);
        FloatVector a4 = FloatVector.fromArray(FS, out, to + 8 * V);
        FloatVector b4 = FloatVector.fromArray(FS, out, to + 9 * V);
        FloatVector a5 = FloatVector.fromArray(FS, out, to + 10 * V);
        FloatVector b5 = FloatVector.fromArray(FS, out, to + 11 * V);
        FloatVector a6 = FloatVector.fromArray(FS, out, to + 12 * V);
        FloatVector b6 = FloatVector.fromArray(FS, out, to + 13 * V);
        FloatVector a7 = FloatVector.fromArray(FS, out, to + 14 * V);
        FloatVector b7 = FloatVector.fromArray(FS, out, to + 15 * V);
        for (int k = 0; k < inputs; k++) {
            FloatVector wa = FloatVector.fromArray(FS, w, a + k * L);
            FloatVector wb = FloatVector.fromArray(FS, w, b + k * L);
            FloatVector v = FloatVector.broadcast(FS, x[from + k]);
            a0 = wa.fma(v, a0);
            b0 = wb.fma(v, b0);
            v = FloatVector.broadcast(FS, x[r1 + k]);
            a1 = wa.fma(v, a1);
            b1 = wb.fma(v, b1);
            v = FloatVector.broadcast(FS, x[r2 + k]);
            a2 = wa.fma(v, a2);
            b2 = wb.fma(v, b2);
            v = FloatVector.broadcast(FS, x[r3 + k]);
            a3 = wa.fma(v, a3);
            b3 = wb.fma(v, b3);
            v = FloatVector.broadcast(FS, x[r4 + k]);
            a4 = wa.fma(v, a4);
            b4 = wb.fma(v, b4);
            v = FloatVector.broadcast(FS, x[r5 + k]);
            a5 = wa.fma(v, a5);
            b5 = wb.fma(v, b5);
            v = FloatVector.broadcast(FS, x[r6 + k]);
            a6 = wa.fma(v, a6);
            b6 = wb.fma(v, b6);
            v = FloatVector.broadcast(FS, x[r7 + k]);
            a7 = wa.fma(v, a7);
            b7 = wb.fma(v, b7);
        }
        a0.intoArray(out, to);
        b0.intoArray(out, to + V);
        a1.intoArray(out, to + 2 * V);
        b1.intoArray(out, to + 3 * V);
        a2.intoArray(out, to + 4 * V);
        b2.intoArray(out, to + 5 * V);
        a3.intoArray(out, to + 6 * V);
        b3.intoArray(out, to + 7 * V);
        a4.intoArray(out, to + 8 * V);
        b4.intoArray(out, to + 9 * V);
        a5.intoArray(out, to + 10 * V);
        b5.intoArray(out, to + 11 * V);
        a6.intoArray(out, to + 12 * V);
        b6.intoArray(out, to + 13 * V);
        a7.intoArray(out, to + 14 * V);
        b7.intoArray(out, to + 15 * V);
    }

    /** As {@link #eight}, four rows. */
    private static void four(
            float[] x, int from, int stride, int last, float[] w, int a, int b, int inputs, float[] out, int to) {
        int r1 = from + Math.min(1, last) * stride;
        int r2 = from + Math.min(2, last) * stride;
        int r3 = from + Math.min(3, last) * stride;
        FloatVector a0 = FloatVector.fromArray(FS, out, to);
        FloatVector b0 = FloatVector.fromArray(FS, out, to + V);
        FloatVector a1 = FloatVector.fromArray(FS, out, to + 2 * V);
        FloatVector b1 = FloatVector.fromArray(FS, out, to + 3 * V);
        FloatVector a2 = FloatVector.fromArray(FS, out, to + 4 * V);
        FloatVector b2 = FloatVector.fromArray(FS, out, to + 5 * V);
        FloatVector a3 = FloatVector.fromArray(FS, out, to + 6 * V);
        FloatVector b3 = FloatVector.fromArray(FS, out, to + 7 * V);
        for (int k = 0; k < inputs; k++) {
            FloatVector wa = FloatVector.fromArray(FS, w, a + k * L);
            FloatVector wb = FloatVector.fromArray(FS, w, b + k * L);
            FloatVector v = FloatVector.broadcast(FS, x[from + k]);
            a0 = wa.fma(v, a0);
            b0 = wb.fma(v, b0);
            v = FloatVector.broadcast(FS, x[r1 + k]);
            a1 = wa.fma(v, a1);
            b1 = wb.fma(v, b1);
            v = FloatVector.broadcast(FS, x[r2 + k]);
            a2 = wa.fma(v, a2);
            b2 = wb.fma(v, b2);
            v = FloatVector.broadcast(FS, x[r3 + k]);
            a3 = wa.fma(v, a3);
            b3 = wb.fma(v, b3);
        }
        a0.intoArray(out, to);
        b0.intoArray(out, to + V);
        a1.intoArray(out, to + 2 * V);
        b1.intoArray(out, to + 3 * V);
        a2.intoArray(out, to + 4 * V);
        b2.intoArray(out, to + 5 * V);
        a3.intoArray(out, to + 6 * V);
        b3.intoArray(out, to + 7 * V);
    }
}
