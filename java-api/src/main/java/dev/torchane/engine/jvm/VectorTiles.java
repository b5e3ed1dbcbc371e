package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Linear layers of several rows: tiles of six rows by two vectors of outputs, over panels widened once. */
final class VectorTiles {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;
    private static final int ROWS = 6;
    /** Panels that are widened together: enough for two vectors. */
    private static final int GROUP = PARTS == 1 ? 2 : 1;

    /** Where widened panels begin in the scratch memory. */
    private static final int WIDE = 4 * L;

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
        float[] scale = w.scale();
        for (int panel = fromPanel; panel < toPanel; panel += GROUP) {
            int panels = Math.min(GROUP, toPanel - panel);
            float[] wide;
            int base;
            if (w instanceof Panels.F32 f32) {
                wide = f32.data();
                base = panel * inputs * L;
            } else {
                wide = scratch;
                base = WIDE;
                for (int i = 0; i < panels; i++) {
                    widen(w, panel + i, scratch, WIDE + i * inputs * L);
                }
            }
            int vectors = panels * PARTS;
            for (int vector = 0; vector < vectors; vector += 2) {
                int a = base + VectorKernels.place(vector, inputs);
                int b = base + VectorKernels.place(Math.min(vector + 1, vectors - 1), inputs);
                int output = panel * L + vector * V;
                boolean both = vector + 1 < vectors;
                for (int row = 0; row < rows; row += ROWS) {
                    // The last tile repeats its last row: one kernel, compiled early, instead of one for each
                    // remainder.
                    int tile = Math.min(ROWS, rows - row);
                    tile(x, xOffset + row * inputs, tile - 1, wide, a, b, inputs, scratch, results(scratch));
                    for (int r = 0; r < tile; r++) {
                        int at = outOffset + (row + r) * outStride;
                        place(scratch, 2 * r, output, w, scale, bias, biasOffset, out, at);
                        if (both) {
                            place(scratch, 2 * r + 1, output + V, w, scale, bias, biasOffset, out, at);
                        }
                    }
                }
            }
        }
    }

    private static void place(
            float[] scratch,
            int sums,
            int output,
            Panels w,
            float[] scale,
            float[] bias,
            int biasOffset,
            float[] out,
            int at) {
        FloatVector value = FloatVector.fromArray(FS, scratch, results(scratch) + sums * V);
        VectorKernels.finish(value, output, w, scale, bias, biasOffset, out, at, scratch);
    }

    /** Where a tile leaves its sums: the last floats of the scratch memory. */
    private static int results(float[] scratch) {
        return scratch.length - 12 * L;
    }

    private static void widen(Panels w, int panel, float[] to, int at) {
        int size = w.inputs() * L;
        int from = panel * size;
        switch (w) {
            case Panels.I8 i8 -> bytes(i8.data(), from, to, at, size);
            case Panels.F16 f16 -> halves(f16.data(), from, to, at, size);
            case Panels.F32 f32 -> System.arraycopy(f32.data(), from, to, at, size);
        }
    }

    private static void bytes(byte[] data, int from, float[] to, int at, int size) {
        for (int i = 0; i < size; i += V) {
            VectorForms.bytes(data, from + i).intoArray(to, at + i);
        }
    }

    private static void halves(short[] data, int from, float[] to, int at, int size) {
        for (int i = 0; i < size; i += V) {
            VectorForms.halves(data, from + i).intoArray(to, at + i);
        }
    }

    /** Sums of rows 0 to {@code last} (the last repeated up to six) and two vectors of outputs, [6][2][V]. */
    private static void tile(float[] x, int from, int last, float[] w, int a, int b, int inputs, float[] out, int to) {
        int r1 = from + Math.min(1, last) * inputs;
        int r2 = from + Math.min(2, last) * inputs;
        int r3 = from + Math.min(3, last) * inputs;
        int r4 = from + Math.min(4, last) * inputs;
        int r5 = from + Math.min(5, last) * inputs;
        FloatVector a0 = FloatVector.zero(FS);
        FloatVector b0 = a0;
        FloatVector a1 = a0;
        FloatVector b1 = a0;
        FloatVector a2 = a0;
        FloatVector b2 = a0;
        FloatVector a3 = a0;
        FloatVector b3 = a0;
        FloatVector a4 = a0;
        FloatVector b4 = a0;
        FloatVector a5 = a0;
        FloatVector b5 = a0;
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
    }
}
