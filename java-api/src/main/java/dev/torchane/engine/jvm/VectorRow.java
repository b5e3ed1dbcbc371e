package dev.torchane.engine.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Linear layers of one row: four vectors of outputs at a time, weights widened in registers. */
final class VectorRow {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;

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
        float[] scale = w.scale();
        int vector = fromPanel * PARTS;
        for (; vector < end; vector += 4) {
            // Past the end the last vector is computed again and thrown away: simpler than a kernel for each remainder.
            int a = VectorKernels.place(vector, inputs);
            int b = VectorKernels.place(Math.min(vector + 1, end - 1), inputs);
            int c = VectorKernels.place(Math.min(vector + 2, end - 1), inputs);
            int d = VectorKernels.place(Math.min(vector + 3, end - 1), inputs);
            switch (w) {
                case Panels.I8 i8 -> bytes(x, xOffset, i8.data(), a, b, c, d, inputs, scratch);
                case Panels.F16 f16 -> halves(x, xOffset, f16.data(), a, b, c, d, inputs, scratch);
                case Panels.F32 f32 -> floats(x, xOffset, f32.data(), a, b, c, d, inputs, scratch);
            }
            for (int i = 0; i < 4 && vector + i < end; i++) {
                FloatVector sums = FloatVector.fromArray(FS, scratch, L + i * V);
                VectorKernels.finish(sums, (vector + i) * V, w, scale, bias, biasOffset, out, outOffset, scratch);
            }
        }
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
        s0.intoArray(to, L);
        s1.intoArray(to, L + V);
        s2.intoArray(to, L + 2 * V);
        s3.intoArray(to, L + 3 * V);
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
        s0.intoArray(to, L);
        s1.intoArray(to, L + V);
        s2.intoArray(to, L + 2 * V);
        s3.intoArray(to, L + 3 * V);
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
        s0.intoArray(to, L);
        s1.intoArray(to, L + V);
        s2.intoArray(to, L + 2 * V);
        s3.intoArray(to, L + 3 * V);
    }
}
