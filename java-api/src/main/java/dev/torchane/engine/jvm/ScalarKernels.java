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
            float[] prepared,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            int outStride,
            float[] scratch) {
        int inputs = w.inputs();
        int chunk = LinearScratch.chunk(w);
        int sums = LinearScratch.tiles(w);
        boolean scaled = w instanceof Panels.Blocks blocks && blocks.nibbles();
        float[] in = scaled ? prepared : x;
        int start = scaled ? rows * w.blocks() : xOffset;
        for (int panel = fromPanel; panel < toPanel; panel++) {
            w.tables(panel, scratch, LinearScratch.TABLES);
            java.util.Arrays.fill(scratch, sums, sums + rows * L, 0f);
            if (w.shifts() >= 0) {
                int shifts = LinearScratch.TABLES + w.shifts();
                for (int row = 0; row < rows; row++) {
                    dot(prepared, row * w.blocks(), scratch, shifts, w.blocks(), scratch, sums + row * L);
                }
            }
            for (int from = 0; from < inputs; from += chunk) {
                int size = Math.min(inputs - from, chunk);
                float[] wide = scratch;
                int base = LinearScratch.wide(w);
                if (w instanceof Panels.F32 f32) {
                    wide = f32.data();
                    base = (panel * inputs + from) * L;
                } else {
                    ScalarWidening.widen(w, panel, from, from + size, scratch, LinearScratch.TABLES, base);
                }
                for (int row = 0; row < rows; row++) {
                    for (int k = 0; k < size; k += w.block()) {
                        int at = start + row * inputs + from + k;
                        java.util.Arrays.fill(scratch, LinearScratch.PRODUCTS, LinearScratch.PRODUCTS + L, 0f);
                        int products = Math.min(w.block(), size - k);
                        dot(in, at, wide, base + k * L, products, scratch, LinearScratch.PRODUCTS);
                        int factors = w.factored() ? LinearScratch.TABLES + (from + k) / w.block() * L : -1;
                        add(scratch, factors, sums + row * L);
                    }
                }
            }
            int lanes = Math.min(L, w.outputs() - panel * L);
            for (int row = 0; row < rows; row++) {
                int at = outOffset + row * outStride;
                finish(scratch, sums + row * L, w.scale(), bias, biasOffset, panel * L, lanes, out, at);
            }
        }
    }

    /** Adds the products of a block, times its factors if there are any. */
    private static void add(float[] scratch, int factors, int sums) {
        for (int lane = 0; lane < L; lane++) {
            float factor = factors < 0 ? 1 : scratch[factors + lane];
            scratch[sums + lane] = Math.fma(factor, scratch[LinearScratch.PRODUCTS + lane], scratch[sums + lane]);
        }
    }

    /** Writes {@code sums * scale + bias} for some lanes. */
    static void finish(
            float[] sums,
            int from,
            float[] scale,
            float[] bias,
            int biasOffset,
            int output,
            int lanes,
            float[] out,
            int to) {
        for (int lane = 0; lane < lanes; lane++) {
            float value = sums[from + lane];
            if (scale != null) {
                value *= scale[output + lane];
            }
            if (bias != null) {
                value += bias[biasOffset + output + lane];
            }
            out[to + output + lane] = value;
        }
    }

    static void halves(short[] data, int from, float[] to, int offset, int size) {
        for (int i = 0; i < size; i++) {
            to[offset + i] = Float.float16ToFloat(data[from + i]);
        }
    }

    /** Adds the products of one row with some inputs of a panel to 16 sums. */
    private static void dot(float[] x, int from, float[] w, int panel, int inputs, float[] sums, int to) {
        float s0 = sums[to];
        float s1 = sums[to + 1];
        float s2 = sums[to + 2];
        float s3 = sums[to + 3];
        float s4 = sums[to + 4];
        float s5 = sums[to + 5];
        float s6 = sums[to + 6];
        float s7 = sums[to + 7];
        float s8 = sums[to + 8];
        float s9 = sums[to + 9];
        float s10 = sums[to + 10];
        float s11 = sums[to + 11];
        float s12 = sums[to + 12];
        float s13 = sums[to + 13];
        float s14 = sums[to + 14];
        float s15 = sums[to + 15];
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
        sums[to] = s0;
        sums[to + 1] = s1;
        sums[to + 2] = s2;
        sums[to + 3] = s3;
        sums[to + 4] = s4;
        sums[to + 5] = s5;
        sums[to + 6] = s6;
        sums[to + 7] = s7;
        sums[to + 8] = s8;
        sums[to + 9] = s9;
        sums[to + 10] = s10;
        sums[to + 11] = s11;
        sums[to + 12] = s12;
        sums[to + 13] = s13;
        sums[to + 14] = s14;
        sums[to + 15] = s15;
    }

    @Override
    public float expSum(float[] x, int at, int count, int spare) {
        return ScalarAttention.expSum(x, at, count, spare);
    }

    @Override
    public void attention(AttentionPart part, float[] scratch) {
        ScalarAttention.part(part, scratch);
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
