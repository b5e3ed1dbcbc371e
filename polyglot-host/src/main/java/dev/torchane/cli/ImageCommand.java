package dev.torchane.cli;

import dev.torchane.GeneratedImage;
import dev.torchane.ImageOptions;
import dev.torchane.StableDiffusion;
import dev.torchane.StableDiffusionOptions;
import dev.torchane.TorchAneException;
import dev.torchane.diffusion.DiffusionTimings;
import dev.torchane.diffusion.SchedulerChoice;
import dev.torchane.diffusion.SchedulerKind;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import javax.imageio.ImageIO;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code image PROMPT -m DIR -o out.png}. */
@Command(
        name = "image",
        description = "Makes a picture with Stable Diffusion; a model that is not built yet is built first.",
        mixinStandardHelpOptions = true)
final class ImageCommand implements Runnable {

    /** Schedulers by short names. */
    enum Sampler {
        DPM(Optional.of(SchedulerKind.DPM_SOLVER_MULTISTEP)),
        EULER(Optional.of(SchedulerKind.EULER)),
        PNDM(Optional.of(SchedulerKind.PNDM)),
        DDIM(Optional.of(SchedulerKind.DDIM)),
        /** The one that the model's configuration names. */
        MODEL(Optional.empty());

        final Optional<SchedulerKind> kind;

        Sampler(Optional<SchedulerKind> kind) {
            this.kind = kind;
        }
    }

    /** Width and height. */
    record Size(int width, int height) {

        static final class Converter implements ITypeConverter<Size> {
            @Override
            public Size convert(String text) {
                String[] sides = text.toLowerCase(Locale.ROOT).split("x");
                try {
                    return new Size(
                            Integer.parseInt(sides[0]), Integer.parseInt(sides.length == 1 ? sides[0] : sides[1]));
                } catch (NumberFormatException e) {
                    throw new TypeConversionException("'" + text + "' is no size; expected such as 512 or 512x768");
                }
            }
        }
    }

    @Parameters(index = "0", paramLabel = "PROMPT", description = "What to show.")
    private String prompt = "";

    @Option(
            names = {"-m", "--model"},
            required = true,
            paramLabel = "MODEL",
            description = "Directory of a pipeline, bundle, or id.")
    private String model = "";

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "PNG file to write.")
    private Path output = Path.of("");

    @Option(names = "--negative", paramLabel = "PROMPT", description = "What to lead away from.")
    private String negative = "";

    @Option(names = "--steps", description = "Steps; default ${DEFAULT-VALUE}.")
    private int steps = ImageOptions.defaults().steps();

    @Option(names = "--seed", description = "Seed of the noise; default drawn, and printed.")
    private Long seed;

    @Option(names = "--guidance", description = "How closely the prompt is followed; default ${DEFAULT-VALUE}.")
    private double guidance = ImageOptions.defaults().guidance();

    @Option(
            names = "--size",
            paramLabel = "WxH",
            converter = Size.Converter.class,
            description = "Size of the picture, multiples of 8; default the model's.")
    private Size size;

    @Option(names = "--sampler", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.")
    private Sampler sampler = Sampler.DPM;

    @Option(names = "--karras", description = "Take the noise levels of Karras et al.")
    private boolean karras;

    @Option(names = "--from", paramLabel = "FILE", description = "Picture to begin with.")
    private Path from;

    @Option(names = "--strength", description = "How much of that picture goes, 0 to 1; default ${DEFAULT-VALUE}.")
    private double strength = 0.8;

    @Mixin
    private CompileFlags compile = new CompileFlags();

    @Override
    public void run() {
        ImageOptions options = options();
        try (ConsoleProgress progress = new ConsoleProgress(System.err);
                StopOnCtrlC stop = new StopOnCtrlC()) {
            StableDiffusionOptions built = StableDiffusionOptions.defaults()
                    .withCompile(compile.options(progress))
                    .withFromPictures(from != null);
            if (size != null) {
                built = built.withSize(size.width(), size.height());
            }
            try (StableDiffusion sd = StableDiffusion.fromPretrained(model, built)) {
                progress.stage("picture of " + sd.size(), steps, "steps");
                GeneratedImage image = sd.generate(
                        prompt,
                        options.withCancellation(stop.cancellation())
                                .withOnStep(step -> progress.done(Math.min(step.number(), steps))));
                progress.finish();
                image.writePng(output);
                print(image);
            } catch (CancellationException cancelled) {
                throw new TorchAneException(cancelled.getMessage(), cancelled);
            }
        }
    }

    private ImageOptions options() {
        ImageOptions options = ImageOptions.defaults()
                .withSteps(steps)
                .withNegativePrompt(negative)
                .withGuidance(guidance)
                .withScheduler(new SchedulerChoice(sampler.kind, karras));
        if (seed != null) {
            options = options.withSeed(seed);
        }
        return from == null ? options : options.withStart(picture(from), strength);
    }

    private static BufferedImage picture(Path file) {
        try {
            BufferedImage image = ImageIO.read(file.toFile());
            if (image == null) {
                throw new TorchAneException(file + " is no picture that Java reads (PNG, JPEG, GIF, BMP)");
            }
            return image;
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be read: " + e, e);
        }
    }

    private void print(GeneratedImage image) {
        DiffusionTimings timings = image.timings();
        double unet = timings.unetNanos().stream()
                .mapToLong(Long::longValue)
                .average()
                .orElse(0);
        System.out.println(output);
        System.err.printf(
                Locale.ROOT,
                "seed %d, %.1f s: text %.2f s, UNet %d x %.2f s, VAE %.2f s%n",
                image.seed(),
                timings.totalNanos() / 1e9,
                timings.textNanos() / 1e9,
                timings.unetNanos().size(),
                unet / 1e9,
                timings.vaeNanos() / 1e9);
    }
}
