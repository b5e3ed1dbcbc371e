package dev.torchane.diffusion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Decides at which timesteps the UNet is asked and how its predictions are followed, as diffusers' scheduler of the same
 * configuration does: the same timesteps, and latents within rounding. Immutable.
 */
public final class Scheduler {

    private final SchedulerKind kind;
    private final int trainTimesteps;
    private final IntFunction<Denoising> start;

    private Scheduler(SchedulerKind kind, int trainTimesteps, IntFunction<Denoising> start) {
        this.kind = kind;
        this.trainTimesteps = trainTimesteps;
        this.start = start;
    }

    /**
     * A scheduler with a pipeline's {@code scheduler_config.json}. The class that the file names gets the two corrections that
     * diffusers' Stable Diffusion pipeline makes to old files: {@code steps_offset} is 1 and {@code clip_sample} is false. Another
     * class gets what it has in common with it, as {@code Other.from_config(pipeline.scheduler.config)} does.
     *
     * @throws TorchAneException when the file cannot be read, or names a scheduler or an option that is not supported
     * @throws IllegalArgumentException when Karras sigmas are asked of a scheduler that has none
     */
    static Scheduler ofPipeline(Path file, SchedulerChoice choice) {
        ObjectNode config = ConfigFile.read(file);
        SchedulerKind kind = choice.kind().orElseGet(() -> named(file, config));
        boolean own = config.path("_class_name").asText().equals(kind.className());
        ObjectNode corrected = corrected(config, !own);
        if (choice.karrasSigmas()) {
            if (kind != SchedulerKind.DPM_SOLVER_MULTISTEP && kind != SchedulerKind.EULER) {
                throw new IllegalArgumentException(kind.className() + " has no Karras sigmas; "
                        + SchedulerKind.DPM_SOLVER_MULTISTEP.className() + " and " + SchedulerKind.EULER.className()
                        + " have them");
            }
            corrected.put("use_karras_sigmas", true);
        }
        return of(file.toString(), corrected, kind);
    }

    /** A scheduler from a configuration as it is. */
    static Scheduler of(String name, JsonNode config, SchedulerKind kind) {
        SchedulerOptions options = new SchedulerOptions(name + " (" + kind.className() + ")", config);
        return switch (kind) {
            case DPM_SOLVER_MULTISTEP -> {
                DpmSolver.Setup setup = DpmSolver.Setup.of(options);
                yield new Scheduler(kind, setup.schedule().timesteps(), setup::begin);
            }
            case EULER -> {
                EulerSteps.Setup setup = EulerSteps.Setup.of(options);
                yield new Scheduler(kind, setup.schedule().timesteps(), setup::begin);
            }
            case PNDM -> {
                PndmSteps.Setup setup = PndmSteps.Setup.of(options);
                yield new Scheduler(kind, setup.schedule().timesteps(), setup::begin);
            }
            case DDIM -> {
                DdimSteps.Setup setup = DdimSteps.Setup.of(options);
                yield new Scheduler(kind, setup.schedule().timesteps(), setup::begin);
            }
        };
    }

    public SchedulerKind kind() {
        return kind;
    }

    /**
     * Begins a picture.
     *
     * @param steps steps from pure noise to the picture, at least 1
     * @throws IllegalArgumentException when there are more steps than training timesteps, or too few for the scheduler
     */
    public Denoising begin(int steps) {
        if (steps < 1 || steps > trainTimesteps) {
            throw new IllegalArgumentException(
                    "steps is " + steps + "; expected 1 to " + trainTimesteps + ", the timesteps of the training");
        }
        return start.apply(steps);
    }

    private static SchedulerKind named(Path file, JsonNode config) {
        String name = config.path("_class_name").asText();
        return Arrays.stream(SchedulerKind.values())
                .filter(kind -> kind.className().equals(name))
                .findFirst()
                .orElseThrow(() -> new TorchAneException(file + ": the scheduler is "
                        + (name.isEmpty() ? "not named (_class_name is missing)" : name) + "; supported: "
                        + Arrays.stream(SchedulerKind.values())
                                .map(SchedulerKind::className)
                                .collect(Collectors.joining(", "))
                        + ". One of these can be chosen in its place"));
    }

    /** @param whereWritten whether only entries that the file has are corrected */
    private static ObjectNode corrected(ObjectNode config, boolean whereWritten) {
        ObjectNode corrected = config.deepCopy();
        if (!whereWritten || config.has("steps_offset")) {
            corrected.put("steps_offset", 1);
        }
        if (!whereWritten || config.has("clip_sample")) {
            corrected.put("clip_sample", false);
        }
        return corrected;
    }
}
