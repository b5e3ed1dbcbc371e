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

    /** a·x */
    static float[] scaled(float a, float[] x) {
        float[] product = new float[x.length];
        for (int i = 0; i < product.length; i++) {
            product[i] = a * x[i];
        }
        return product;
    }

    /** √α·clean + √(1 − α)·noise */
    static float[] noisy(float[] clean, float[] noise, float alpha) {
        return combine((float) Math.sqrt(alpha), clean, (float) Math.sqrt(1f - alpha), noise);
    }
}
