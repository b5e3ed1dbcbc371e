package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Linear layers of one row: four vectors of outputs at a time, weights widened in registers. One loop for each form of weights,
 * because the compiler keeps vectors in registers only where it sees the whole loop.
 */
final class VectorRow {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;
    private static final int SUMS = LinearScratch.SUMS;

    private VectorRow() {}

    static void linear(
            float[] x,
            int xOffset,
            Panels w,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            float[] scratch) {
        int inputs = w.inputs();
        int end = toPanel * PARTS;
        for (int vector = fromPanel * PARTS; vector < end; vector += 4) {
            // Past the end the last vector is computed again and thrown away: simpler than a kernel for each remainder.
            int v1 = Math.min(vector + 1, end - 1);
            int v2 = Math.min(vector + 2, end - 1);
            int v3 = Math.min(vector + 3, end - 1);
            int a = place(vector, inputs);
            int b = place(v1, inputs);
            int c = place(v2, inputs);
            int d = place(v3, inputs);
            for (int panel = vector / PARTS; panel <= v3 / PARTS; panel++) {
                w.tables(panel, scratch, table(w, panel - vector / PARTS));
            }
            switch (w) {
                case Panels.I8 i8 -> bytes(x, xOffset, i8.data(), a, b, c, d, inputs, scratch);
                case Panels.F16 f16 -> halves(x, xOffset, f16.data(), a, b, c, d, inputs, scratch);
                case Panels.F32 f32 -> floats(x, xOffset, f32.data(), a, b, c, d, inputs, scratch);
                case Panels.Palette palette -> {
                    int ta = entries(w, vector, vector);
                    int tb = entries(w, vector, v1);
                    int tc = entries(w, vector, v2);
                    int td = entries(w, vector, v3);
                    a = packed(vector, inputs);
                    b = packed(v1, inputs);
                    c = packed(v2, inputs);
                    d = packed(v3, inputs);
                    palette(x, xOffset, palette.indices(), a, b, c, d, inputs, scratch, ta, tb, tc, td);
                }
                case Panels.Blocks blocks -> {
                    int block = blocks.factors().block();
                    int ta = factors(w, vector, vector);
                    int tb = factors(w, vector, v1);
                    int tc = factors(w, vector, v2);
                    int td = factors(w, vector, v3);
                    if (blocks.nibbles()) {
                        a = packed(vector, inputs);
                        b = packed(v1, inputs);
                        c = packed(v2, inputs);
                        d = packed(v3, inputs);
                        nibbles(x, xOffset, blocks.quants(), a, b, c, d, inputs, scratch, ta, tb, tc, td, block);
                    } else {
                        blocks(x, xOffset, blocks.quants(), a, b, c, d, inputs, scratch, ta, tb, tc, td, block);
                    }
                }
            }
            for (int i = 0; i < 4 && vector + i < end; i++) {
                FloatVector sums = FloatVector.fromArray(FS, scratch, SUMS + i * V);
                VectorKernels.finish(sums, (vector + i) * V, w, bias, biasOffset, out, outOffset, scratch);
            }
        }
    }

    /** First element of a vector of outputs: vectors of all panels are counted through. */
    private static int place(int vector, int inputs) {
        return vector / PARTS * inputs * L + vector % PARTS * V;
    }

    /** First byte of a vector of outputs where two inputs share one. */
    private static int packed(int vector, int inputs) {
        return vector / PARTS * (inputs / 2) * L + vector % PARTS * V;
    }

    /** Where the tables of the panel that many panels after the first one begin. */
    private static int table(Panels w, int panel) {
        return LinearScratch.TABLES + panel * w.tableSize();
    }

    private static int entries(Panels w, int first, int vector) {
        int half = vector % PARTS * V / Panels.Palette.SPAN;
        return table(w, vector / PARTS - first / PARTS) + half * Panels.Palette.ENTRIES;
    }

    private static int factors(Panels w, int first, int vector) {
        return table(w, vector / PARTS - first / PARTS) + vector % PARTS * V;
    }

    private static void bytes(float[] x, int from, byte[] w, int a, int b, int c, int d, int inputs, float[] to) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int at = k * L;
            s0 = VectorForms.bytes(w, a + at).fma(value, s0);
            s1 = VectorForms.bytes(w, b + at).fma(value, s1);
            s2 = VectorForms.bytes(w, c + at).fma(value, s2);
            s3 = VectorForms.bytes(w, d + at).fma(value, s3);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }

    private static void halves(float[] x, int from, short[] w, int a, int b, int c, int d, int inputs, float[] to) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int at = k * L;
            s0 = VectorForms.halves(w, a + at).fma(value, s0);
            s1 = VectorForms.halves(w, b + at).fma(value, s1);
            s2 = VectorForms.halves(w, c + at).fma(value, s2);
            s3 = VectorForms.halves(w, d + at).fma(value, s3);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }

    private static void floats(float[] x, int from, float[] w, int a, int b, int c, int d, int inputs, float[] to) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int at = k * L;
            s0 = FloatVector.fromArray(FS, w, a + at).fma(value, s0);
            s1 = FloatVector.fromArray(FS, w, b + at).fma(value, s1);
            s2 = FloatVector.fromArray(FS, w, c + at).fma(value, s2);
            s3 = FloatVector.fromArray(FS, w, d + at).fma(value, s3);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }

    private static void blocks(
            float[] x,
            int from,
            byte[] w,
            int a,
            int b,
            int c,
            int d,
            int inputs,
            float[] to,
            int ta,
            int tb,
            int tc,
            int td,
            int block) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int first = 0; first < inputs; first += block) {
            int table = first / block * 2 * L;
            FloatVector fa = FloatVector.fromArray(FS, to, ta + table);
            FloatVector ma = FloatVector.fromArray(FS, to, ta + table + L);
            FloatVector fb = FloatVector.fromArray(FS, to, tb + table);
            FloatVector mb = FloatVector.fromArray(FS, to, tb + table + L);
            FloatVector fc = FloatVector.fromArray(FS, to, tc + table);
            FloatVector mc = FloatVector.fromArray(FS, to, tc + table + L);
            FloatVector fd = FloatVector.fromArray(FS, to, td + table);
            FloatVector md = FloatVector.fromArray(FS, to, td + table + L);
            for (int k = first; k < first + block; k++) {
                FloatVector value = FloatVector.broadcast(FS, x[from + k]);
                int at = k * L;
                s0 = VectorForms.bytes(w, a + at).fma(fa, ma).fma(value, s0);
                s1 = VectorForms.bytes(w, b + at).fma(fb, mb).fma(value, s1);
                s2 = VectorForms.bytes(w, c + at).fma(fc, mc).fma(value, s2);
                s3 = VectorForms.bytes(w, d + at).fma(fd, md).fma(value, s3);
            }
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }

    private static void nibbles(
            float[] x,
            int from,
            byte[] w,
            int a,
            int b,
            int c,
            int d,
            int inputs,
            float[] to,
            int ta,
            int tb,
            int tc,
            int td,
            int block) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        for (int first = 0; first < inputs; first += block) {
            int table = first / block * 2 * L;
            FloatVector fa = FloatVector.fromArray(FS, to, ta + table);
            FloatVector ma = FloatVector.fromArray(FS, to, ta + table + L);
            FloatVector fb = FloatVector.fromArray(FS, to, tb + table);
            FloatVector mb = FloatVector.fromArray(FS, to, tb + table + L);
            FloatVector fc = FloatVector.fromArray(FS, to, tc + table);
            FloatVector mc = FloatVector.fromArray(FS, to, tc + table + L);
            FloatVector fd = FloatVector.fromArray(FS, to, td + table);
            FloatVector md = FloatVector.fromArray(FS, to, td + table + L);
            for (int k = first; k < first + block; k += 2) {
                FloatVector even = FloatVector.broadcast(FS, x[from + k]);
                FloatVector odd = FloatVector.broadcast(FS, x[from + k + 1]);
                int at = k / 2 * L;
                IntVector pair = VectorForms.unsigned(w, a + at);
                s0 = VectorForms.low(pair).fma(fa, ma).fma(even, s0);
                s0 = VectorForms.high(pair).fma(fa, ma).fma(odd, s0);
                pair = VectorForms.unsigned(w, b + at);
                s1 = VectorForms.low(pair).fma(fb, mb).fma(even, s1);
                s1 = VectorForms.high(pair).fma(fb, mb).fma(odd, s1);
                pair = VectorForms.unsigned(w, c + at);
                s2 = VectorForms.low(pair).fma(fc, mc).fma(even, s2);
                s2 = VectorForms.high(pair).fma(fc, mc).fma(odd, s2);
                pair = VectorForms.unsigned(w, d + at);
                s3 = VectorForms.low(pair).fma(fd, md).fma(even, s3);
                s3 = VectorForms.high(pair).fma(fd, md).fma(odd, s3);
            }
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }

    private static void palette(
            float[] x,
            int from,
            byte[] w,
            int a,
            int b,
            int c,
            int d,
            int inputs,
            float[] to,
            int ta,
            int tb,
            int tc,
            int td) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        IntVector a0 = VectorForms.entries(to, ta, 0);
        IntVector a1 = VectorForms.entries(to, ta, 1);
        IntVector a2 = VectorForms.entries(to, ta, 2);
        IntVector a3 = VectorForms.entries(to, ta, 3);
        IntVector b0 = VectorForms.entries(to, tb, 0);
        IntVector b1 = VectorForms.entries(to, tb, 1);
        IntVector b2 = VectorForms.entries(to, tb, 2);
        IntVector b3 = VectorForms.entries(to, tb, 3);
        IntVector c0 = VectorForms.entries(to, tc, 0);
        IntVector c1 = VectorForms.entries(to, tc, 1);
        IntVector c2 = VectorForms.entries(to, tc, 2);
        IntVector c3 = VectorForms.entries(to, tc, 3);
        IntVector d0 = VectorForms.entries(to, td, 0);
        IntVector d1 = VectorForms.entries(to, td, 1);
        IntVector d2 = VectorForms.entries(to, td, 2);
        IntVector d3 = VectorForms.entries(to, td, 3);
        for (int k = 0; k < inputs; k += 2) {
            FloatVector even = FloatVector.broadcast(FS, x[from + k]);
            FloatVector odd = FloatVector.broadcast(FS, x[from + k + 1]);
            int at = k / 2 * L;
            IntVector pair = VectorForms.unsigned(w, a + at);
            s0 = VectorForms.select(pair, a0, a1, a2, a3).fma(even, s0);
            s0 = VectorForms.select(VectorForms.second(pair), a0, a1, a2, a3).fma(odd, s0);
            pair = VectorForms.unsigned(w, b + at);
            s1 = VectorForms.select(pair, b0, b1, b2, b3).fma(even, s1);
            s1 = VectorForms.select(VectorForms.second(pair), b0, b1, b2, b3).fma(odd, s1);
            pair = VectorForms.unsigned(w, c + at);
            s2 = VectorForms.select(pair, c0, c1, c2, c3).fma(even, s2);
            s2 = VectorForms.select(VectorForms.second(pair), c0, c1, c2, c3).fma(odd, s2);
            pair = VectorForms.unsigned(w, d + at);
            s3 = VectorForms.select(pair, d0, d1, d2, d3).fma(even, s3);
            s3 = VectorForms.select(VectorForms.second(pair), d0, d1, d2, d3).fma(odd, s3);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
        s2.intoArray(to, SUMS + 2 * V);
        s3.intoArray(to, SUMS + 3 * V);
    }
}
