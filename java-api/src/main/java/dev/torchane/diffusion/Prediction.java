package dev.torchane.diffusion;

/** What a UNet was trained to predict. */
enum Prediction {
    /** The noise in the latents. */
    EPSILON,
    /** The velocity of Salimans and Ho (2022): α·noise − σ·clean. */
    V_PREDICTION,
    /** The latents without noise. */
    SAMPLE
}
