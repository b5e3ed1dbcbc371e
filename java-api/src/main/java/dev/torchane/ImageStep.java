package dev.torchane;

import dev.torchane.diffusion.DiffusionStep;
import dev.torchane.diffusion.Pixels;
import java.awt.image.BufferedImage;

/** A step of a picture that has been made. Usable while its listener runs. */
public final class ImageStep {

    private final DiffusionStep step;
    private final ImageSize size;

    ImageStep(DiffusionStep step, ImageSize size) {
        this.step = step;
        this.size = size;
    }

    /** From 1 on. */
    public int number() {
        return step.number();
    }

    /** How many there will be. Some schedulers make more than were asked for. */
    public int count() {
        return step.count();
    }

    /** The latents, {@code [channels, height / 8, width / 8]}. */
    public float[] latents() {
        return step.latents();
    }

    /** The picture as it is now. The VAE decodes it, which takes as long as at the end: seconds, for large ones on a CPU. */
    public BufferedImage preview() {
        return Pixels.image(step.decode(), size.width(), size.height());
    }
}
