package dev.torchane;

import dev.torchane.diffusion.SchedulerChoice;
import dev.torchane.diffusion.SchedulerKind;
import java.awt.image.BufferedImage;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * How a picture is made. Begin with {@link #defaults()}.
 *
 * @param steps from noise to the picture
 * @param seed of the noise, as {@code torch.Generator("cpu").manual_seed(seed)} takes it: its low 32 bits count. Without one it is drawn,
 *     and {@link GeneratedImage#seed()} tells it
 * @param negativePrompt what the picture is led away from
 * @param guidance how closely the prompt is followed; 1 and less leaves the negative prompt out and takes half the time
 * @param size of the picture; empty takes the model's own
 * @param scheduler which way the steps go
 * @param start a picture to begin with
 * @param onStep hears about each step, on the thread that computes
 * @param cancellation ends it from any thread, after the step that is being computed
 */
public record ImageOptions(
        int steps,
        OptionalLong seed,
        String negativePrompt,
        double guidance,
        Optional<ImageSize> size,
        SchedulerChoice scheduler,
        Optional<Start> start,
        Consumer<ImageStep> onStep,
        Cancellation cancellation) {

    private static final int STEPS = 20;
    private static final double GUIDANCE = 7.5;

    /**
     * A picture to begin with.
     *
     * @param image scaled to the size where it has another
     * @param strength how much of it goes, above 0 and at most 1; so much of the steps is made
     */
    public record Start(BufferedImage image, double strength) {

        public Start {
            Arguments.given(image, "image");
            if (!(strength > 0 && strength <= 1)) {
                throw new IllegalArgumentException("strength is " + strength + "; expected above 0 and at most 1");
            }
        }
    }

    public ImageOptions {
        Arguments.given(seed, "seed");
        Arguments.given(negativePrompt, "negativePrompt");
        Arguments.given(size, "size");
        Arguments.given(scheduler, "scheduler");
        Arguments.given(start, "start");
        Arguments.given(onStep, "onStep");
        Arguments.given(cancellation, "cancellation");
        if (steps < 1) {
            throw new IllegalArgumentException("steps is " + steps + "; expected at least 1");
        }
        if (!Double.isFinite(guidance)) {
            throw new IllegalArgumentException("guidance is " + guidance + "; expected a finite number, such as 7.5");
        }
    }

    /** 20 steps of DPM-Solver++, guidance 7.5, the model's size, a seed that is drawn. */
    public static ImageOptions defaults() {
        return new ImageOptions(
                STEPS,
                OptionalLong.empty(),
                "",
                GUIDANCE,
                Optional.empty(),
                SchedulerChoice.of(SchedulerKind.DPM_SOLVER_MULTISTEP),
                Optional.empty(),
                step -> {},
                new Cancellation());
    }

    public ImageOptions withSteps(int count) {
        return new ImageOptions(count, seed, negativePrompt, guidance, size, scheduler, start, onStep, cancellation);
    }

    public ImageOptions withSeed(long value) {
        return new ImageOptions(
                steps, OptionalLong.of(value), negativePrompt, guidance, size, scheduler, start, onStep, cancellation);
    }

    public ImageOptions withNegativePrompt(String text) {
        return new ImageOptions(steps, seed, text, guidance, size, scheduler, start, onStep, cancellation);
    }

    public ImageOptions withGuidance(double scale) {
        return new ImageOptions(steps, seed, negativePrompt, scale, size, scheduler, start, onStep, cancellation);
    }

    /** @throws IllegalArgumentException when a side is no multiple of 8; the message names the nearest that are */
    public ImageOptions withSize(int width, int height) {
        ImageSize wanted = new ImageSize(width, height);
        return new ImageOptions(
                steps, seed, negativePrompt, guidance, Optional.of(wanted), scheduler, start, onStep, cancellation);
    }

    public ImageOptions withScheduler(SchedulerChoice choice) {
        return new ImageOptions(steps, seed, negativePrompt, guidance, size, choice, start, onStep, cancellation);
    }

    /** A scheduler of this kind. */
    public ImageOptions withScheduler(SchedulerKind kind) {
        return withScheduler(SchedulerChoice.of(kind));
    }

    /** A picture to begin with; {@code strength} of the steps is made. */
    public ImageOptions withStart(BufferedImage image, double strength) {
        Optional<Start> first = Optional.of(new Start(image, strength));
        return new ImageOptions(steps, seed, negativePrompt, guidance, size, scheduler, first, onStep, cancellation);
    }

    public ImageOptions withOnStep(Consumer<ImageStep> listener) {
        return new ImageOptions(steps, seed, negativePrompt, guidance, size, scheduler, start, listener, cancellation);
    }

    public ImageOptions withCancellation(Cancellation other) {
        return new ImageOptions(steps, seed, negativePrompt, guidance, size, scheduler, start, onStep, other);
    }
}
