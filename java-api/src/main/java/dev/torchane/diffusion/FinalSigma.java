package dev.torchane.diffusion;

/** Where the last step ends. */
enum FinalSigma {
    /** At latents without noise. */
    ZERO,
    /** At the least noise that the model was trained with. */
    SIGMA_MIN;

    double of(Sigmas sigmas) {
        return this == ZERO ? 0 : sigmas.smallest();
    }
}
