package dev.torchane.engine.jvm;

/**
 * The inner loops worth writing twice: with the Vector API and as plain Java. Both forms give the same bits, so they may take
 * turns.
 */
interface Kernels {

    /**
     * {@code out[r][n] = scale[n] * sum over k of x[r][k] * w[n][k] + bias[n]} for the outputs of some panels. The sum runs in
     * the order of k with one fused multiply-add each, where weights have blocks within each block, and then over the blocks
     * ({@link Panels.Blocks}).
     *
     * @param x rows of inputs from {@code xOffset}, each {@code w.inputs()} long
     * @param prepared what {@link BlockInputs} makes of the rows, where weights have blocks; else anything
     * @param bias one number for each output from {@code biasOffset}, or null
     * @param fromPanel first panel
     * @param toPanel panel after the last
     * @param out rows of outputs from {@code outOffset}, each {@code outStride} long
     * @param scratch at least {@link #linearScratch} floats
     */
    void linear(
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
            float[] scratch);

    /** Floats of scratch memory that {@link #linear} needs. */
    static int linearScratch(Panels w, int rows) {
        return LinearScratch.size(w, rows);
    }

    /**
     * A part of {@code softmax(scale * q · k + mask) · v}. Columns are taken in the order given.
     *
     * @param scratch at least {@link AttentionPart#scratch} floats
     */
    void attention(AttentionPart part, float[] scratch);

    /**
     * Replaces a row of scores by {@code exp(score - largest)}.
     *
     * @param spare room for {@link Lanes#COUNT} floats in {@code x}
     * @return their sum
     */
    float expSum(float[] x, int at, int count, int spare);

    /** {@code out[i] = x[i] * rsqrt(mean(x^2) + epsilon) * weight[i]} over one row of {@code size}. */
    void rmsNorm(
            float[] x,
            int xOffset,
            float[] weight,
            int weightOffset,
            float epsilon,
            int size,
            float[] out,
            int outOffset,
            float[] scratch);

    /** {@code out[i] = silu(gate[i]) * up[i]}. */
    void swiglu(float[] gate, int gateOffset, float[] up, int upOffset, int size, float[] out, int outOffset);
}
