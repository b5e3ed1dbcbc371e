package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A scheduler_config.json is honoured or refused, entry by entry; nothing in it is silently something else. */
class SchedulerOptionsTest {

    private static final String SD15 = """
            {"_class_name": "PNDMScheduler", "_diffusers_version": "0.6.0", "beta_end": 0.012,
             "beta_schedule": "scaled_linear", "beta_start": 0.00085, "num_train_timesteps": 1000,
             "set_alpha_to_one": false, "skip_prk_steps": true, "steps_offset": 1, "trained_betas": null,
             "clip_sample": false}""";

    @TempDir
    Path directory;

    @Test
    void theConfigurationOfStableDiffusion15IsPndmWithItsFirstTimesteps() {
        Scheduler scheduler = SchedulerChoice.ofPipeline().from(file(SD15));
        assertEquals(SchedulerKind.PNDM, scheduler.kind());
        float[] timesteps = scheduler.begin(50).timesteps();
        assertEquals(51, timesteps.length);
        assertArrayEquals(new float[] {981, 961, 961, 941}, Arrays.copyOf(timesteps, 4));
    }

    @Test
    void anotherKindTakesWhatItHasInCommon() {
        Scheduler scheduler =
                SchedulerChoice.of(SchedulerKind.DPM_SOLVER_MULTISTEP).from(file(SD15));
        assertEquals(SchedulerKind.DPM_SOLVER_MULTISTEP, scheduler.kind());
        float[] timesteps = scheduler.begin(20).timesteps();
        assertEquals(20, timesteps.length);
        assertEquals(999, timesteps[0]);
    }

    @Test
    void oldFilesGetTheCorrectionsThatThePipelineMakes() {
        String old = SD15.replace("\"steps_offset\": 1", "\"steps_offset\": 0");
        assertEquals(981, SchedulerChoice.ofPipeline().from(file(old)).begin(50).timesteps()[0]);
    }

    @ParameterizedTest
    @CsvSource({
        "solver_order, 4, DPM_SOLVER_MULTISTEP, 1 to 3",
        "algorithm_type, \"sde-dpmsolver++\", DPM_SOLVER_MULTISTEP, dpmsolver++",
        "use_flow_sigmas, true, DPM_SOLVER_MULTISTEP, false",
        "thresholding, true, DDIM, false",
        "prediction_type, \"flow_prediction\", DPM_SOLVER_MULTISTEP, v_prediction",
        "prediction_type, \"sample\", PNDM, v_prediction",
        "beta_schedule, \"sigmoid\", EULER, scaled_linear",
        "timestep_spacing, \"linear\", EULER, trailing",
        "timestep_type, \"continuous\", EULER, discrete",
        "set_alpha_to_one, 1, DDIM, true or false",
        "beta_start, \"small\", DDIM, a number",
    })
    void aValueThatIsNotSupportedIsRefusedByName(String option, String value, SchedulerKind kind, String supported) {
        Path file = file("{\"" + option + "\": " + value + "}");
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> SchedulerChoice.of(kind).from(file).begin(10));
        assertTrue(refused.getMessage().contains(option + " is " + value), refused.getMessage());
        assertTrue(refused.getMessage().contains(supported), refused.getMessage());
    }

    @Test
    void anUnknownOptionIsRefusedByName() {
        Path file = file("{\"_class_name\": \"DDIMScheduler\", \"shift_terminal\": 0.1}");
        TorchAneException refused = assertThrows(
                TorchAneException.class, () -> SchedulerChoice.ofPipeline().from(file));
        assertTrue(refused.getMessage().contains("shift_terminal"), refused.getMessage());
    }

    @Test
    void anUnknownSchedulerIsRefusedWithThoseThatThereAre() {
        Path file = file("{\"_class_name\": \"UniPCMultistepScheduler\"}");
        TorchAneException refused = assertThrows(
                TorchAneException.class, () -> SchedulerChoice.ofPipeline().from(file));
        assertTrue(refused.getMessage().contains("UniPCMultistepScheduler"), refused.getMessage());
        assertTrue(refused.getMessage().contains("EulerDiscreteScheduler"), refused.getMessage());
    }

    @Test
    void karrasSigmasAreHadWhereTheSchedulerHasThem() {
        Path file = file(SD15);
        float[] plain =
                SchedulerChoice.of(SchedulerKind.EULER).from(file).begin(10).timesteps();
        float[] karras = SchedulerChoice.of(SchedulerKind.EULER)
                .withKarrasSigmas()
                .from(file)
                .begin(10)
                .timesteps();
        assertTrue(karras[5] < plain[5], karras[5] + " is a level with less noise than " + plain[5]);
        SchedulerChoice without = SchedulerChoice.of(SchedulerKind.DDIM).withKarrasSigmas();
        assertThrows(IllegalArgumentException.class, () -> without.from(file));
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "1001"})
    void stepsBeyondTheTrainingAreRefused(int steps) {
        Scheduler scheduler = SchedulerChoice.ofPipeline().from(file(SD15));
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> scheduler.begin(steps));
        assertTrue(refused.getMessage().contains("1 to 1000"), refused.getMessage());
    }

    private Path file(String json) {
        try {
            return Files.writeString(directory.resolve("scheduler_config.json"), json);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
