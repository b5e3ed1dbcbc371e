package dev.torchane.diffusion;

/**
 * Sizes that a pipeline's models share.
 *
 * @param channels of the latents
 * @param scale pixels of a picture to one latent, along each side
 * @param scalingFactor what the VAE's latents are multiplied by for the UNet
 * @param tokens of a prompt
 */
public record PipelineShape(int channels, int scale, float scalingFactor, int tokens) {

    /** Latents of a picture, {@code [channels, height / scale, width / scale]}. */
    int latents(int width, int height) {
        return channels * (width / scale) * (height / scale);
    }
}
