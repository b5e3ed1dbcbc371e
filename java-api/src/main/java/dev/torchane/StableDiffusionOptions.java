package dev.torchane;

import java.util.Optional;

/**
 * How a Stable Diffusion model is built and loaded. Begin with {@link #defaults()}.
 *
 * @param compile target, precision, weights, engine, cache: of each of the pipeline's models
 * @param size of the pictures: programs have static shapes; empty takes the size that the model was trained for
 * @param fromPictures whether the VAE's encoder is built too, for pictures made from pictures
 */
public record StableDiffusionOptions(CompileOptions compile, Optional<ImageSize> size, boolean fromPictures) {

    public StableDiffusionOptions {
        Arguments.given(compile, "compile");
        Arguments.given(size, "size");
    }

    /** Target cpu, fp32, engine {@code jvm}, the model's own size, prompts only. */
    public static StableDiffusionOptions defaults() {
        return new StableDiffusionOptions(CompileOptions.defaults(), Optional.empty(), false);
    }

    public StableDiffusionOptions withCompile(CompileOptions options) {
        return new StableDiffusionOptions(options, size, fromPictures);
    }

    /** @throws IllegalArgumentException when a side is no multiple of 8; the message names the nearest that are */
    public StableDiffusionOptions withSize(int width, int height) {
        return new StableDiffusionOptions(compile, Optional.of(new ImageSize(width, height)), fromPictures);
    }

    /** Whether pictures can be made from pictures. */
    public StableDiffusionOptions withFromPictures(boolean encoder) {
        return new StableDiffusionOptions(compile, size, encoder);
    }
}
