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
        boolean pairs = w instanceof Panels.Palette || w instanceof Panels.Blocks blocks && blocks.nibbles();
        int step = pairs ? 2 : 4;
        for (int vector = fromPanel * PARTS; vector < end; vector += step) {
            // Past the end the last vector is computed again and thrown away: simpler than a kernel for each remainder.
            int last = Math.min(vector + step, end) - 1;
            for (int panel = vector / PARTS; panel <= last / PARTS; panel++) {
                w.tables(panel, scratch, LinearScratch.TABLES + (panel - vector / PARTS) * w.tableSize());
            }
            switch (w) {
                case Panels.Palette palette -> two(x, xOffset, palette, vector, last, scratch);
                case Panels.Blocks blocks when blocks.nibbles() -> two(x, xOffset, blocks, vector, last, scratch);
                case Panels.Blocks blocks -> four(x, xOffset, blocks, vector, last, scratch);
                default -> four(x, xOffset, w, vector, last, scratch);
            }
            for (int i = 0; vector + i <= last; i++) {
                FloatVector sums = FloatVector.fromArray(FS, scratch, SUMS + i * V);
                VectorKernels.finish(sums, (vector + i) * V, w, bias, biasOffset, out, outOffset, scratch);
            }
        }
    }

    /** Where the factors of a vector stand when the first vector of the step is {@code first}. */
    private static int table(Panels w, int first, int vector) {
        return LinearScratch.TABLES + (vector / PARTS - first / PARTS) * w.tableSize() + vector % PARTS * V;
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

    /** One block of inputs after the other, the sums in memory between them: factors stay in registers for a whole block. */
    private static void four(float[] x, int xOffset, Panels.Blocks w, int vector, int last, float[] scratch) {
        int v1 = Math.min(vector + 1, last);
        int v2 = Math.min(vector + 2, last);
        int v3 = Math.min(vector + 3, last);
        int inputs = w.inputs();
        int a = place(vector, inputs);
        int b = place(v1, inputs);
        int c = place(v2, inputs);
        int d = place(v3, inputs);
        int tableA = table(w, vector, vector);
        int tableB = table(w, vector, v1);
        int tableC = table(w, vector, v2);
        int tableD = table(w, vector, v3);
        int count = w.factors().count();
        int block = inputs / count;
        java.util.Arrays.fill(scratch, SUMS, SUMS + 4 * V, 0f);
        for (int i = 0; i < count; i++) {
            int at = i * block * L;
            int t = i * L;
            blocks(
                    x,
                    xOffset + i * block,
                    w.quants(),
                    a + at,
                    b + at,
                    c + at,
                    d + at,
                    block,
                    scratch,
                    tableA + t,
                    tableB + t,
                    tableC + t,
                    tableD + t,
                    count * L);
        }
    }

    /** Two vectors of nibbles: with four the loop has too many operations for the compiler. */
    private static void two(float[] x, int xOffset, Panels.Blocks w, int vector, int last, float[] scratch) {
        int a = packed(vector, w.inputs());
        int b = packed(last, w.inputs());
        int tableA = table(w, vector, vector);
        int tableB = table(w, vector, last);
        int shift = w.factors().shift();
        int shifts = w.factors().count() * L;
        nibbles(x, xOffset, w.quants(), a, b, w.inputs(), scratch, tableA, tableB, shift, shifts);
    }

    private static void two(float[] x, int xOffset, Panels.Palette w, int vector, int last, float[] scratch) {
        int a = packed(vector, w.inputs());
        int b = packed(last, w.inputs());
        int tableA = LinearScratch.TABLES + vector % PARTS * V / Panels.Palette.SPAN * Panels.Palette.ENTRIES;
        int tableB = LinearScratch.TABLES
                + (last / PARTS - vector / PARTS) * w.tableSize()
                + last % PARTS * V / Panels.Palette.SPAN * Panels.Palette.ENTRIES;
        palette(x, xOffset, w.indices(), a, b, w.inputs(), scratch, tableA, tableB);
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
            int c,
            int d,
            int inputs,
            float[] to,
            int tableA,
            int tableB,
            int tableC,
            int tableD,
            int shifts) {
        FloatVector s0 = FloatVector.fromArray(FS, to, SUMS);
        FloatVector s1 = FloatVector.fromArray(FS, to, SUMS + V);
        FloatVector s2 = FloatVector.fromArray(FS, to, SUMS + 2 * V);
        FloatVector s3 = FloatVector.fromArray(FS, to, SUMS + 3 * V);
        FloatVector factorA = FloatVector.fromArray(FS, to, tableA);
        FloatVector shiftA = FloatVector.fromArray(FS, to, tableA + shifts);
        FloatVector factorB = FloatVector.fromArray(FS, to, tableB);
        FloatVector shiftB = FloatVector.fromArray(FS, to, tableB + shifts);
        FloatVector factorC = FloatVector.fromArray(FS, to, tableC);
        FloatVector shiftC = FloatVector.fromArray(FS, to, tableC + shifts);
        FloatVector factorD = FloatVector.fromArray(FS, to, tableD);
        FloatVector shiftD = FloatVector.fromArray(FS, to, tableD + shifts);
        for (int k = 0; k < inputs; k++) {
            FloatVector value = FloatVector.broadcast(FS, x[from + k]);
            int at = k * L;
            s0 = VectorForms.bytes(w, a + at).fma(factorA, shiftA).fma(value, s0);
            s1 = VectorForms.bytes(w, b + at).fma(factorB, shiftB).fma(value, s1);
            s2 = VectorForms.bytes(w, c + at).fma(factorC, shiftC).fma(value, s2);
            s3 = VectorForms.bytes(w, d + at).fma(factorD, shiftD).fma(value, s3);
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
