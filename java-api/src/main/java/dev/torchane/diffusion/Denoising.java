package dev.torchane.diffusion;

/**
 * The way of one picture from noise to latents: which timesteps the UNet is asked at, and what becomes of its predictions. Keeps
 * what earlier steps predicted, so it serves one picture, from one thread, its steps in order.
 */
public interface Denoising {

    /** A timestep for each call of the UNet, in order. Some schedulers call it more often than there are steps. */
    float[] timesteps();

    /** What standard normal noise is multiplied by to become the first latents; most schedulers take it as it is. */
    default float initialScale() {
        return 1f;
    }

    /**
     * The latents as the UNet wants to see them; most schedulers change nothing.
     *
     * @param step index into {@link #timesteps()}
     */
    default float[] scaled(float[] latents, int step) {
        return latents.clone();
    }

    /**
     * The latents after a step.
     *
     * @param prediction what the UNet predicted, guidance applied
     * @param latents the latents before the step, not scaled; left as they are
     * @param step index into {@link #timesteps()}
     */
    float[] step(float[] prediction, float[] latents, int step);

    /**
     * A picture's latents with as much noise as the first step expects, for pictures made from pictures.
     *
     * @param clean latents without noise
     * @param noise standard normal
     * @param step index of the step that will be the first
     */
    float[] noisy(float[] clean, float[] noise, int step);
}
