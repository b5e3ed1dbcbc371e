package dev.torchane.engine.jvm;

/** The kernels in plain Java. */
final class ScalarKernels implements Kernels {

    private static final int L = Lanes.COUNT;

    @Override
    public void linear(
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
        for (int panel = fromPanel; panel < toPanel; panel++) {
            boolean expand = rows > 1 && !(w instanceof Panels.F32);
            if (expand) {
                expand(w, panel, scratch, 4 * L);
            }
            int lanes = Math.min(L, w.outputs() - panel * L);
            for (int row = 0; row < rows; row++) {
                int from = xOffset + row * inputs;
                if (expand) {
                    dot(x, from, scratch, 4 * L, inputs, scratch);
                } else {
                    switch (w) {
                        case Panels.F32 f32 -> dot(x, from, f32.data(), panel * inputs * L, inputs, scratch);
                        case Panels.F16 f16 -> dot(x, from, f16.data(), panel * inputs * L, inputs, scratch);
                        case Panels.I8 i8 -> dot(x, from, i8.data(), panel * inputs * L, inputs, scratch);
                    }
                }
                finish(scratch, w.scale(), bias, biasOffset, panel * L, lanes, out, outOffset + row * outStride);
            }
        }
    }

    /** Writes {@code sums * scale + bias} for some lanes. */
    static void finish(
            float[] sums, float[] scale, float[] bias, int biasOffset, int output, int lanes, float[] out, int to) {
        for (int lane = 0; lane < lanes; lane++) {
            float value = sums[lane];
            if (scale != null) {
                value *= scale[output + lane];
            }
            if (bias != null) {
                value += bias[biasOffset + output + lane];
            }
            out[to + output + lane] = value;
        }
    }

    /** Writes the weights of one panel, without their scale, as fp32. */
    static void expand(Panels w, int panel, float[] to, int offset) {
        int size = w.inputs() * L;
        int from = panel * size;
        switch (w) {
            case Panels.F32 f32 -> System.arraycopy(f32.data(), from, to, offset, size);
            case Panels.F16 f16 -> halves(f16.data(), from, to, offset, size);
            case Panels.I8 i8 -> bytes(i8.data(), from, to, offset, size);
        }
    }

    private static void bytes(byte[] data, int from, float[] to, int offset, int size) {
        for (int i = 0; i < size; i++) {
            to[offset + i] = data[from + i];
        }
    }

    static void halves(short[] data, int from, float[] to, int offset, int size) {
        for (int i = 0; i < size; i++) {
            to[offset + i] = Float.float16ToFloat(data[from + i]);
        }
    }

    private static void dot(float[] x, int from, float[] w, int panel, int inputs, float[] sums) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        float s4 = 0;
        float s5 = 0;
        float s6 = 0;
        float s7 = 0;
        float s8 = 0;
        float s9 = 0;
        float s10 = 0;
        float s11 = 0;
        float s12 = 0;
        float s13 = 0;
        float s14 = 0;
        float s15 = 0;
        for (int k = 0; k < inputs; k++) {
            float value = x[from + k];
            int at = panel + k * L;
            s0 = Math.fma(value, w[at], s0);
            s1 = Math.fma(value, w[at + 1], s1);
            s2 = Math.fma(value, w[at + 2], s2);
            s3 = Math.fma(value, w[at + 3], s3);
            s4 = Math.fma(value, w[at + 4], s4);
            s5 = Math.fma(value, w[at + 5], s5);
            s6 = Math.fma(value, w[at + 6], s6);
            s7 = Math.fma(value, w[at + 7], s7);
            s8 = Math.fma(value, w[at + 8], s8);
            s9 = Math.fma(value, w[at + 9], s9);
            s10 = Math.fma(value, w[at + 10], s10);
            s11 = Math.fma(value, w[at + 11], s11);
            s12 = Math.fma(value, w[at + 12], s12);
            s13 = Math.fma(value, w[at + 13], s13);
            s14 = Math.fma(value, w[at + 14], s14);
            s15 = Math.fma(value, w[at + 15], s15);
        }
        sums[0] = s0;
        sums[1] = s1;
        sums[2] = s2;
        sums[3] = s3;
        sums[4] = s4;
        sums[5] = s5;
        sums[6] = s6;
        sums[7] = s7;
        sums[8] = s8;
        sums[9] = s9;
        sums[10] = s10;
        sums[11] = s11;
        sums[12] = s12;
        sums[13] = s13;
        sums[14] = s14;
        sums[15] = s15;
    }

    private static void dot(float[] x, int from, short[] w, int panel, int inputs, float[] sums) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        float s4 = 0;
        float s5 = 0;
        float s6 = 0;
        float s7 = 0;
        float s8 = 0;
        float s9 = 0;
        float s10 = 0;
        float s11 = 0;
        float s12 = 0;
        float s13 = 0;
        float s14 = 0;
        float s15 = 0;
        for (int k = 0; k < inputs; k++) {
            float value = x[from + k];
            int at = panel + k * L;
            s0 = Math.fma(value, Float.float16ToFloat(w[at]), s0);
            s1 = Math.fma(value, Float.float16ToFloat(w[at + 1]), s1);
            s2 = Math.fma(value, Float.float16ToFloat(w[at + 2]), s2);
            s3 = Math.fma(value, Float.float16ToFloat(w[at + 3]), s3);
            s4 = Math.fma(value, Float.float16ToFloat(w[at + 4]), s4);
            s5 = Math.fma(value, Float.float16ToFloat(w[at + 5]), s5);
            s6 = Math.fma(value, Float.float16ToFloat(w[at + 6]), s6);
            s7 = Math.fma(value, Float.float16ToFloat(w[at + 7]), s7);
            s8 = Math.fma(value, Float.float16ToFloat(w[at + 8]), s8);
            s9 = Math.fma(value, Float.float16ToFloat(w[at + 9]), s9);
            s10 = Math.fma(value, Float.float16ToFloat(w[at + 10]), s10);
            s11 = Math.fma(value, Float.float16ToFloat(w[at + 11]), s11);
            s12 = Math.fma(value, Float.float16ToFloat(w[at + 12]), s12);
            s13 = Math.fma(value, Float.float16ToFloat(w[at + 13]), s13);
            s14 = Math.fma(value, Float.float16ToFloat(w[at + 14]), s14);
            s15 = Math.fma(value, Float.float16ToFloat(w[at + 15]), s15);
        }
        sums[0] = s0;
        sums[1] = s1;
        sums[2] = s2;
        sums[3] = s3;
        sums[4] = s4;
        sums[5] = s5;
        sums[6] = s6;
        sums[7] = s7;
        sums[8] = s8;
        sums[9] = s9;
        sums[10] = s10;
        sums[11] = s11;
        sums[12] = s12;
        sums[13] = s13;
        sums[14] = s14;
        sums[15] = s15;
    }

    private static void dot(float[] x, int from, byte[] w, int panel, int inputs, float[] sums) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        float s4 = 0;
        float s5 = 0;
        float s6 = 0;
        float s7 = 0;
        float s8 = 0;
        float s9 = 0;
        float s10 = 0;
        float s11 = 0;
        float s12 = 0;
        float s13 = 0;
        float s14 = 0;
        float s15 = 0;
        for (int k = 0; k < inputs; k++) {
            float value = x[from + k];
            int at = panel + k * L;
            s0 = Math.fma(value, (float) w[at], s0);
            s1 = Math.fma(value, (float) w[at + 1], s1);
            s2 = Math.fma(value, (float) w[at + 2], s2);
            s3 = Math.fma(value, (float) w[at + 3], s3);
            s4 = Math.fma(value, (float) w[at + 4], s4);
            s5 = Math.fma(value, (float) w[at + 5], s5);
            s6 = Math.fma(value, (float) w[at + 6], s6);
            s7 = Math.fma(value, (float) w[at + 7], s7);
            s8 = Math.fma(value, (float) w[at + 8], s8);
            s9 = Math.fma(value, (float) w[at + 9], s9);
            s10 = Math.fma(value, (float) w[at + 10], s10);
            s11 = Math.fma(value, (float) w[at + 11], s11);
            s12 = Math.fma(value, (float) w[at + 12], s12);
            s13 = Math.fma(value, (float) w[at + 13], s13);
            s14 = Math.fma(value, (float) w[at + 14], s14);
            s15 = Math.fma(value, (float) w[at + 15], s15);
        }
        sums[0] = s0;
        sums[1] = s1;
        sums[2] = s2;
        sums[3] = s3;
        sums[4] = s4;
        sums[5] = s5;
        sums[6] = s6;
        sums[7] = s7;
        sums[8] = s8;
        sums[9] = s9;
        sums[10] = s10;
        sums[11] = s11;
        sums[12] = s12;
        sums[13] = s13;
        sums[14] = s14;
        sums[15] = s15;
    }

    @Override
    public void attention(
            float[] q,
            int qOffset,
            float scale,
            Object keys,
            int keyOffset,
            Object values,
            int valueOffset,
            float[] mask,
            int maskOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] out,
            int outOffset,
            float[] scratch) {
        int query = Lanes.roundUp(count);
        int column = query + Lanes.roundUp(dim);
        int sums = column + Lanes.roundUp(dim);
        for (int d = 0; d < dim; d++) {
            scratch[query + d] = q[qOffset + d] * scale;
        }
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            int c = columns[columnsOffset + i];
            float[] key = row(keys, keyOffset + c * dim, dim, scratch, column);
            int from = key == scratch ? column : keyOffset + c * dim;
            java.util.Arrays.fill(scratch, sums, sums + L, 0f);
            for (int d = 0; d < dim; d++) {
                scratch[sums + d % L] = Math.fma(scratch[query + d], key[from + d], scratch[sums + d % L]);
            }
            float score = Lanes.foldByFour(scratch, sums);
            if (mask != null) {
                score += mask[maskOffset + c];
            }
            scratch[i] = score;
            max = Math.max(max, score);
        }
        float total = expSum(scratch, count, max, sums);
        java.util.Arrays.fill(scratch, query, query + dim, 0f);
        for (int i = 0; i < count; i++) {
            int c = columns[columnsOffset + i];
            float[] value = row(values, valueOffset + c * dim, dim, scratch, column);
            int from = value == scratch ? column : valueOffset + c * dim;
            float weight = scratch[i];
            for (int d = 0; d < dim; d++) {
                scratch[query + d] = Math.fma(weight, value[from + d], scratch[query + d]);
            }
        }
        float inverse = 1f / total;
        for (int d = 0; d < dim; d++) {
            out[outOffset + d] = scratch[query + d] * inverse;
        }
    }

    private static float[] row(Object data, int from, int dim, float[] scratch, int to) {
        if (data instanceof short[] halves) {
            halves(halves, from, scratch, to, dim);
            return scratch;
        }
        return (float[]) data;
    }

    /** Replaces scores by {@code exp(score - max)} and answers their sum; {@code sums} has room for the partial sums. */
    static float expSum(float[] scores, int count, float max, int sums) {
        java.util.Arrays.fill(scores, sums, sums + L, 0f);
        for (int i = 0; i < count; i++) {
            scores[i] = Maths.exp(scores[i] - max);
            scores[sums + i % L] += scores[i];
        }
        return Lanes.fold(scores, sums);
    }

    @Override
    public void rmsNorm(
            float[] x,
            int xOffset,
            float[] weight,
            int weightOffset,
            float epsilon,
            int size,
            float[] out,
            int outOffset,
            float[] scratch) {
        java.util.Arrays.fill(scratch, 0, L, 0f);
        for (int i = 0; i < size; i++) {
            float value = x[xOffset + i];
            scratch[i % L] = Math.fma(value, value, scratch[i % L]);
        }
        float factor = rms(Lanes.fold(scratch, 0), size, epsilon);
        for (int i = 0; i < size; i++) {
            out[outOffset + i] = x[xOffset + i] * factor * weight[weightOffset + i];
        }
    }

    static float rms(float squares, int size, float epsilon) {
        return (float) (1 / Math.sqrt((double) squares / size + epsilon));
    }

    @Override
    public void swiglu(float[] gate, int gateOffset, float[] up, int upOffset, int size, float[] out, int outOffset) {
        for (int i = 0; i < size; i++) {
            out[outOffset + i] = Maths.silu(gate[gateOffset + i]) * up[upOffset + i];
        }
    }
}
