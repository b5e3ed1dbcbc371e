package dev.torchane.samples;

import dev.torchane.GeneratedImage;
import dev.torchane.ImageOptions;
import dev.torchane.StableDiffusion;
import dev.torchane.StableDiffusionOptions;
import java.nio.file.Path;

/** Makes a picture: {@code MakeImage MODEL PROMPT FILE}. */
public final class MakeImage {

    private MakeImage() {}

    /** Writes a PNG file, and how long each part took to standard output. */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: MakeImage MODEL PROMPT FILE");
            System.exit(2);
        }
        try (StableDiffusion sd = StableDiffusion.fromPretrained(arguments[0], StableDiffusionOptions.defaults())) {
            GeneratedImage image = sd.generate(
                    arguments[1],
                    ImageOptions.defaults()
                            .withOnStep(step -> System.out.println("step " + step.number() + " of " + step.count())));
            image.writePng(Path.of(arguments[2]));
            System.out.println(image.timings());
        }
    }
}
