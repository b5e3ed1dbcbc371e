package dev.torchane;

import dev.torchane.diffusion.DiffusionLoop;
import dev.torchane.diffusion.PipelineConfig;
import dev.torchane.diffusion.Pixels;
import dev.torchane.diffusion.Scheduler;
import dev.torchane.text.ClipTokenizer;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Stable Diffusion 1.x and 2.x: pictures from prompts, and from pictures.
 *
 * <pre>{@code
 * try (StableDiffusion sd = StableDiffusion.fromPretrained("segmind/tiny-sd", StableDiffusionOptions.defaults())) {
 *     sd.generate("a cute robot", ImageOptions.defaults().withSeed(0)).writePng(Path.of("robot.png"));
 * }
 * }</pre>
 *
 * <p>A picture is the one that diffusers makes of the same prompt, seed, scheduler and size on a CPU, within rounding. Any number of threads
 * may make pictures at once, and any may close an instance: pictures that are being made then end.
 */
public final class StableDiffusion implements AutoCloseable {

    private static final System.Logger LOGGER = System.getLogger(StableDiffusion.class.getName());

    private final String name;
    private final PipelineConfig config;
    private final ImageSize size;
    private final ClipTokenizer tokenizer;
    private final DiffusionLoop loop;
    private final SharedUse use;

    /**
     * @param name of the model, for the parameters of its pictures
     * @param size of its pictures
     * @param models freed when this is closed
     */
    StableDiffusion(String name, PipelineConfig config, ImageSize size, DiffusionLoop loop, Runnable models) {
        this.name = name;
        this.config = config;
        this.size = size;
        this.tokenizer = ClipTokenizer.open(
                config.directory().resolve(PipelineConfig.TOKENIZER),
                config.shape().tokens());
        this.loop = loop;
        this.use = new SharedUse("Stable Diffusion model", () -> {
            tokenizer.close();
            models.run();
        });
    }

    /**
     * A model from a pipeline's directory or a bundle, built into the cache when it is not there yet. Building takes minutes, and runs
     * Python inside this process.
     *
     * @param idOrPath a directory that diffusers saved, a bundle, or an id that the local Hugging Face cache holds
     * @throws TorchAneException when there is no such model, when it is damaged or of a kind that is not supported, or when it is not
     *     built yet and the artifact that builds is not on the class path
     */
    public static StableDiffusion fromPretrained(String idOrPath, StableDiffusionOptions options) {
        Path directory = located(idOrPath, options);
        return PipelineBundle.is(directory)
                ? open(directory, options.compile())
                : cached(directory, idOrPath, options).open(bundle -> open(bundle, options.compile()));
    }

    /** As {@link #fromPretrained(String, StableDiffusionOptions)}, from a path. */
    public static StableDiffusion fromPretrained(Path directory, StableDiffusionOptions options) {
        return fromPretrained(Arguments.given(directory, "directory").toString(), options);
    }

    /**
     * The bundle of a pipeline in the cache, built when it is not there yet: one folder, which runs anywhere without Python. A path that is
     * a bundle already is returned as it is.
     */
    public static Path build(String idOrPath, StableDiffusionOptions options) {
        Path directory = located(idOrPath, options);
        return PipelineBundle.is(directory)
                ? directory
                : cached(directory, idOrPath, options).entry();
    }

    private static Path located(String idOrPath, StableDiffusionOptions options) {
        Arguments.given(options, "options");
        return ModelLocator.system().locate(Arguments.given(idOrPath, "idOrPath"));
    }

    private static CachedBuild cached(Path directory, String idOrPath, StableDiffusionOptions options) {
        String name = Files.exists(Path.of(idOrPath))
                ? directory.toAbsolutePath().normalize().getFileName().toString()
                : idOrPath;
        return PipelineBundle.cached(directory, name, options);
    }

    /**
     * A model from its bundle. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged, or the engine cannot run it
     */
    public static StableDiffusion open(Path bundle, CompileOptions options) {
        return PipelineBundle.open(Arguments.given(bundle, "bundle"), Arguments.given(options, "options"));
    }

    /** The size of its pictures. */
    public ImageSize size() {
        return size;
    }

    /**
     * Makes a picture.
     *
     * @throws IllegalArgumentException when the options do not fit the model
     * @throws dev.torchane.diffusion.NonFiniteException when a model overflows, with the step's number
     * @throws CancellationException when it was cancelled, the thread interrupted, or this closed, before it was done
     * @throws IllegalStateException after {@link #close()}
     */
    public GeneratedImage generate(String prompt, ImageOptions options) {
        Arguments.given(prompt, "prompt");
        Arguments.given(options, "options");
        return use.run(() -> generated(prompt, options, new Cancellation()));
    }

    /** As {@link #generate}, on a thread of its own. Cancelling the future ends the picture after the step that is being computed. */
    public CompletableFuture<GeneratedImage> generateAsync(String prompt, ImageOptions options) {
        Arguments.given(prompt, "prompt");
        Arguments.given(options, "options");
        use.requireOpen();
        CompletableFuture<GeneratedImage> future = new CompletableFuture<>();
        Cancellation both = new Cancellation();
        future.whenComplete((image, failure) -> {
            if (future.isCancelled()) {
                both.cancel();
            }
        });
        Thread.ofPlatform().daemon().name("torch-ane-image").start(() -> {
            try {
                future.complete(use.run(() -> generated(prompt, options, both)));
            } catch (RuntimeException | Error failure) {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }

    private GeneratedImage generated(String prompt, ImageOptions options, Cancellation further) {
        ImageSize wanted = options.size().orElse(size);
        if (!wanted.equals(size)) {
            throw new IllegalArgumentException("no picture of " + wanted + ": this model was built for " + size
                    + "; build it for " + wanted + " with StableDiffusionOptions, or leave the size out");
        }
        Scheduler scheduler = options.scheduler().from(config.scheduler());
        ClipTokenizer.Prompt ids = encode(prompt, "prompt");
        ClipTokenizer.Prompt negative = encode(options.negativePrompt(), "negative prompt");
        long seed = options.seed().orElseGet(() -> RandomGenerator.getDefault().nextLong(1L << 32));
        Optional<DiffusionLoop.Start> start = options.start()
                .map(given -> new DiffusionLoop.Start(
                        Pixels.of(given.image(), wanted.width(), wanted.height()), given.strength()));
        DiffusionLoop.Request request = new DiffusionLoop.Request(
                ids.ids(),
                negative.ids(),
                options.guidance(),
                scheduler,
                options.steps(),
                seed,
                wanted.width(),
                wanted.height(),
                start);
        DiffusionLoop.Picture picture = loop.run(
                request,
                () -> use.isClosed()
                        || further.isCancelled()
                        || options.cancellation().isCancelled()
                        || Thread.currentThread().isInterrupted(),
                step -> options.onStep().accept(new ImageStep(step, wanted)));
        return new GeneratedImage(
                Pixels.image(picture.pixels(), wanted.width(), wanted.height()),
                seed,
                picture.timings(),
                ids.cut(),
                negative.cut(),
                ImageParameters.text(prompt, options, scheduler.kind(), seed, wanted, name));
    }

    private ClipTokenizer.Prompt encode(String text, String what) {
        ClipTokenizer.Prompt ids = tokenizer.encode(text);
        if (!ids.cut().isEmpty()) {
            LOGGER.log(
                    Level.WARNING,
                    "the {0} has {1} tokens, and {2} have room: cut is \"{3}\"",
                    what,
                    ids.tokens(),
                    ids.ids().length,
                    ids.cut());
        }
        return ids;
    }

    /** Frees the models when no picture is being made any more; idempotent, and from any thread. */
    @Override
    public void close() {
        use.close();
    }
}
