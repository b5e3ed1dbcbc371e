package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Linear layers of one row: some vectors of outputs at a time, weights widened in registers. One loop for each form of weights,
 * because the compiler keeps vectors in registers only where it sees the whole loop, and not where it sees too much: hence two
 * vectors where four would be too many operations.
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
        int end = toPanel * PARTS;
        int step = w.tableSize() == 0 ? 4 : 2;
        for (int vector = fromPanel * PARTS; vector < end; vector += step) {
            // Past the end the last vector is computed again and thrown away: simpler than a kernel for each remainder.
            int last = Math.min(vector + step, end) - 1;
            if (step == 4) {
                four(x, xOffset, w, vector, last, scratch);
            } else {
                two(x, xOffset, w, vector, last, scratch);
            }
            for (int i = 0; vector + i <= last; i++) {
                FloatVector sums = FloatVector.fromArray(FS, scratch, SUMS + i * V);
                VectorKernels.finish(sums, (vector + i) * V, w, bias, biasOffset, out, outOffset, scratch);
            }
        }
    }

    private static void four(float[] x, int xOffset, Panels w, int vector, int last, float[] scratch) {
        int inputs = w.inputs();
        int a = place(vector, inputs);
        int b = place(Math.min(vector + 1, last), inputs);
        int c = place(Math.min(vector + 2, last), inputs);
        int d = place(Math.min(vector + 3, last), inputs);
        switch (w) {
            case Panels.I8 i8 -> bytes(x, xOffset, i8.data(), a, b, c, d, inputs, scratch);
            case Panels.F16 f16 -> halves(x, xOffset, f16.data(), a, b, c, d, inputs, scratch);
            case Panels.F32 f32 -> floats(x, xOffset, f32.data(), a, b, c, d, inputs, scratch);
            default -> throw new IllegalArgumentException(w + " has tables");
        }
    }

    private static void two(float[] x, int xOffset, Panels w, int vector, int last, float[] scratch) {
        int inputs = w.inputs();
        int first = vector / PARTS;
        for (int panel = first; panel <= last / PARTS; panel++) {
            w.tables(panel, scratch, LinearScratch.TABLES + (panel - first) * w.tableSize());
        }
        int tableA = LinearScratch.TABLES;
        int tableB = LinearScratch.TABLES + (last / PARTS - first) * w.tableSize();
        int partA = vector % PARTS * V;
        int partB = last % PARTS * V;
        switch (w) {
            case Panels.Palette palette -> {
                tableA += partA / Panels.Palette.SPAN * Panels.Palette.ENTRIES;
                tableB += partB / Panels.Palette.SPAN * Panels.Palette.ENTRIES;
                int a = packed(vector, inputs);
                palette(x, xOffset, palette.indices(), a, packed(last, inputs), inputs, scratch, tableA, tableB);
            }
            case Panels.Blocks blocks
            when blocks.nibbles() -> {
                int a = packed(vector, inputs);
                int b = packed(last, inputs);
                int shift = blocks.factors().shift();
                int shifts = blocks.factors().count() * L;
                nibbles(
                        x,
                        xOffset,
                        blocks.quants(),
                        a,
                        b,
                        inputs,
                        scratch,
                        tableA + partA,
                        tableB + partB,
                        shift,
                        shifts);
            }
            case Panels.Blocks blocks -> {
                int a = place(vector, inputs);
                int b = place(last, inputs);
                int shift = blocks.factors().shift();
                int shifts = blocks.factors().count() * L;
                blocks(
                        x,
                        xOffset,
                        blocks.quants(),
                        a,
                        b,
                        inputs,
                        scratch,
                        tableA + partA,
                        tableB + partB,
                        shift,
                        shifts);
            }
            default -> throw new IllegalArgumentException(w + " has no tables");
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
            int inputs,
            float[] to,
            int tableA,
            int tableB,
            int shift,
            int shifts) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int at = k * L;
            int table = (k >> shift) * L;
            FloatVector factor = FloatVector.fromArray(FS, to, tableA + table);
            FloatVector shifted = FloatVector.fromArray(FS, to, tableA + table + shifts);
            s0 = VectorForms.bytes(w, a + at).fma(factor, shifted).fma(value, s0);
            factor = FloatVector.fromArray(FS, to, tableB + table);
            shifted = FloatVector.fromArray(FS, to, tableB + table + shifts);
            s1 = VectorForms.bytes(w, b + at).fma(factor, shifted).fma(value, s1);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
    }

    private static void nibbles(
            float[] x,
            int from,
            byte[] w,
            int a,
            int b,
            int inputs,
            float[] to,
            int tableA,
            int tableB,
            int shift,
            int shifts) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        for (int k = 0; k < inputs; k += 2) {
            FloatVector even = FloatVector.broadcast(FS, x[from + k]);
            FloatVector odd = FloatVector.broadcast(FS, x[from + k + 1]);
            int at = k / 2 * L;
            int table = (k >> shift) * L;
            FloatVector factor = FloatVector.fromArray(FS, to, tableA + table);
            FloatVector shifted = FloatVector.fromArray(FS, to, tableA + table + shifts);
            IntVector pair = VectorForms.unsigned(w, a + at);
            s0 = VectorForms.low(pair).fma(factor, shifted).fma(even, s0);
            s0 = VectorForms.high(pair).fma(factor, shifted).fma(odd, s0);
            factor = FloatVector.fromArray(FS, to, tableB + table);
            shifted = FloatVector.fromArray(FS, to, tableB + table + shifts);
            pair = VectorForms.unsigned(w, b + at);
            s1 = VectorForms.low(pair).fma(factor, shifted).fma(even, s1);
            s1 = VectorForms.high(pair).fma(factor, shifted).fma(odd, s1);
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
    }

    private static void palette(
            float[] x, int from, byte[] w, int a, int b, int inputs, float[] to, int tableA, int tableB) {
        FloatVector s0 = FloatVector.zero(FS);
        FloatVector s1 = s0;
        IntVector a0 = VectorForms.entries(to, tableA, 0);
        IntVector a1 = VectorForms.entries(to, tableA, 1);
        IntVector a2 = VectorForms.entries(to, tableA, 2);
        IntVector a3 = VectorForms.entries(to, tableA, 3);
        IntVector b0 = VectorForms.entries(to, tableB, 0);
        IntVector b1 = VectorForms.entries(to, tableB, 1);
        IntVector b2 = VectorForms.entries(to, tableB, 2);
        IntVector b3 = VectorForms.entries(to, tableB, 3);
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
        }
        s0.intoArray(to, SUMS);
        s1.intoArray(to, SUMS + V);
    }
}
