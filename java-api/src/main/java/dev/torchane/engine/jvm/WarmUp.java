package dev.torchane.engine.jvm;

/** Made-up work for each kernel, and the loop that repeats it until the compiler has done its own. */
final class WarmUp {

    private static final int INPUTS = 64;
    private static final int OUTPUTS = 128;
    private static final long LIMIT_NANOS = 5_000_000_000L;
    private static final int BATCH = 8;

    private WarmUp() {}

    /**
     * Repeats some work until one run takes less than {@code nanos}, or five seconds have passed.
     *
     * @param nanos far more than the compiled kernel takes on any machine, and far less than the interpreted one
     */
    static void until(Runnable work, long nanos) {
        long begin = System.nanoTime();
        long end = begin;
        while (end - begin < LIMIT_NANOS) {
            for (int i = 0; i < BATCH; i++) {
                work.run();
            }
            long now = System.nanoTime();
            if (now - end < BATCH * nanos) {
                return;
            }
            end = now;
        }
    }

    static Panels i8() {
        return new Panels.I8(OUTPUTS, INPUTS, new byte[Panels.length(OUTPUTS, INPUTS)], new float[OUTPUTS]);
    }

    static Panels f16() {
        return new Panels.F16(OUTPUTS, INPUTS, new short[Panels.length(OUTPUTS, INPUTS)]);
    }

    static Panels f32() {
        return new Panels.F32(OUTPUTS, INPUTS, new float[Panels.length(OUTPUTS, INPUTS)]);
    }

    static Panels blocks(boolean nibbles) {
        short[] factors = new short[OUTPUTS * INPUTS / 32];
        BlockFactors each = new BlockFactors.Halves(32, INPUTS / 32, 0, factors, factors);
        return new Panels.Blocks(OUTPUTS, INPUTS, nibbles, new byte[Panels.length(OUTPUTS, INPUTS)], each);
    }

    static Panels palette() {
        float[] entries = new float[OUTPUTS / Panels.Palette.SPAN * Panels.Palette.ENTRIES];
        return new Panels.Palette(OUTPUTS, INPUTS, new byte[Panels.packedLength(OUTPUTS, INPUTS)], entries);
    }

    static Runnable linear(Kernels kernels, Panels w, int rows) {
        float[] x = new float[rows * INPUTS];
        float[] out = new float[rows * OUTPUTS];
        float[] bias = new float[OUTPUTS];
        float[] scratch = new float[Kernels.linearScratch(w, rows)];
        return () -> {
            kernels.linear(x, 0, rows, w, null, 0, 0, w.count() / 2, out, 0, OUTPUTS, scratch);
            kernels.linear(x, 0, rows, w, bias, 0, w.count() / 2, w.count(), out, 0, OUTPUTS, scratch);
        };
    }

    static Runnable attention(Kernels kernels, boolean half) {
        int dim = 64;
        int width = 150;
        Object keys = half ? new short[width * dim] : new float[width * dim];
        int queries = 3;
        float[] q = new float[queries * dim];
        float[] out = new float[queries * dim];
        float[] scratch = new float[Kernels.attentionScratch(queries, width, dim)];
        int[] columns = java.util.stream.IntStream.range(0, width).toArray();
        return () -> kernels.attention(
                q, 0, queries, dim, 1f, keys, 0, keys, 0, null, 0, columns, 0, width, dim, out, 0, scratch);
    }

    static Runnable rmsNorm(Kernels kernels) {
        float[] x = new float[512];
        float[] out = new float[512];
        float[] scratch = new float[Lanes.COUNT];
        return () -> kernels.rmsNorm(x, 0, x, 0, 1e-5f, x.length, out, 0, scratch);
    }

    static Runnable swiglu(Kernels kernels) {
        float[] x = new float[512];
        float[] out = new float[512];
        return () -> kernels.swiglu(x, 0, x, 0, x.length, out, 0);
    }
}
