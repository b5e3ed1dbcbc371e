package dev.torchane.diffusion;

/** Arithmetic on latents. */
final class Latents {

    private Latents() {}

    /** a·x + b·y */
    static float[] combine(float a, float[] x, float b, float[] y) {
        float[] sum = new float[x.length];
        for (int i = 0; i < sum.length; i++) {
            sum[i] = a * x[i] + b * y[i];
        }
        return sum;
    }

    /** √α·clean + √(1 − α)·noise */
    static float[] noisy(float[] clean, float[] noise, float alpha) {
        return combine((float) Math.sqrt(alpha), clean, (float) Math.sqrt(1f - alpha), noise);
    }
}
