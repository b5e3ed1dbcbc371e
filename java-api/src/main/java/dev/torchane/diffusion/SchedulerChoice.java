package dev.torchane.diffusion;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Which scheduler a picture is made with.
 *
 * @param kind empty takes the one that the pipeline's configuration names
 * @param karrasSigmas whether the noise levels of Karras et al. (2022) are used even where the configuration does not say so; DPM-Solver++
 *     and Euler have them
 */
public record SchedulerChoice(Optional<SchedulerKind> kind, boolean karrasSigmas) {

    /** The pipeline's own. */
    public static SchedulerChoice ofPipeline() {
        return new SchedulerChoice(Optional.empty(), false);
    }

    /** One of this kind, with the pipeline's betas and what else they have in common. */
    public static SchedulerChoice of(SchedulerKind kind) {
        return new SchedulerChoice(Optional.of(kind), false);
    }

    /** The same with Karras' noise levels. */
    public SchedulerChoice withKarrasSigmas() {
        return new SchedulerChoice(kind, true);
    }

    /**
     * The scheduler.
     *
     * @param file the pipeline's {@code scheduler_config.json}
     * @throws IllegalArgumentException when the kind has no Karras sigmas
     */
    public Scheduler from(Path file) {
        return Scheduler.ofPipeline(file, this);
    }
}
