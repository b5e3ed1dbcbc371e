package dev.torchane;

import dev.torchane.diffusion.DiffusionTimings;
import dev.torchane.diffusion.PngFile;
import java.awt.image.BufferedImage;
import java.nio.file.Path;

/**
 * A picture, and all that is needed to make it again.
 *
 * @param image RGB
 * @param seed that it was made with, drawn or given
 * @param timings text encoder, UNet per step, VAE, everything
 * @param cutPrompt the end of the prompt that had no room in the text encoder; empty when all had
 * @param cutNegativePrompt likewise, of the negative prompt
 * @param parameters prompt, negative prompt, steps, scheduler, guidance, seed, size and model as text
 */
public record GeneratedImage(
        BufferedImage image,
        long seed,
        DiffusionTimings timings,
        String cutPrompt,
        String cutNegativePrompt,
        String parameters) {

    /**
     * Writes a PNG file with the parameters in its text chunk {@code parameters}.
     *
     * @throws TorchAneException when it cannot be written
     */
    public void writePng(Path file) {
        PngFile.write(image, "parameters", parameters, Arguments.given(file, "file"));
    }
}
