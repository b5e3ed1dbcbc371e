package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;

/** Made-up work for each kernel, and the loop that repeats it until the compiler has done its own. */
final class WarmUp {

    /** More than are widened at a time, and not a multiple: a branch that the work never takes is compiled as one that never comes. */
    private static final int INPUTS = LinearScratch.CHUNK + 64;

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
        float[] prepared = new float[BlockInputs.size(w, rows)];
        return () -> {
            kernels.linear(x, 0, rows, w, prepared, null, 0, 0, w.count() / 2, out, 0, OUTPUTS, scratch);
            kernels.linear(x, 0, rows, w, prepared, bias, 0, w.count() / 2, w.count(), out, 0, OUTPUTS, scratch);
        };
    }

    static Runnable attention(Kernels kernels, StateMemory memory) {
        AttentionPart part = new AttentionPart();
        int width = 150;
        part.dim = 64;
        part.rows = 2;
        part.heads = 3;
        part.rowStride = part.dim;
        part.headStride = part.rows * part.dim;
        part.scale = 1f;
        part.q = new float[part.queries() * part.dim];
        part.keys = memory.allocate(TensorType.of(DType.FP32, width, part.dim));
        part.values = part.keys;
        part.columns = java.util.stream.IntStream.rangeClosed(0, width).toArray();
        part.countsOffset = width - 1;
        part.countsStride = 1;
        part.out = new float[part.queries() * AttentionPart.stride(part.dim)];
        float[] scratch = new float[part.scratch()];
        return () -> kernels.attention(part, scratch);
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
