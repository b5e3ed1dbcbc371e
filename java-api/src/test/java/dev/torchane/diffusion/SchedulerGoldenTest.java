package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every scheduler visits the timesteps of diffusers' and leaves the latents that it leaves, step by step. */
class SchedulerGoldenTest {

    private static final JsonNode GOLDEN = Golden.read("schedulers_golden.json");
    private static final float EXACT = 1e-5f;

    record Case(JsonNode golden) {

        SchedulerKind kind() {
            return Arrays.stream(SchedulerKind.values())
                    .filter(kind -> kind.className().equals(golden.path("class").asText()))
                    .findFirst()
                    .orElseThrow();
        }

        @Override
        public String toString() {
            return kind() + " " + golden.path("config") + " steps " + golden.path("steps") + " from "
                    + golden.path("first");
        }
    }

    static Stream<Case> cases() {
        return StreamSupport.stream(GOLDEN.path("cases").spliterator(), false).map(Case::new);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void latentsAfterEachStepAreThoseOfDiffusers(Case example) {
        JsonNode golden = example.golden();
        Denoising denoising = Scheduler.of("test", golden.path("config"), example.kind())
                .begin(golden.path("steps").asInt());
        assertArrayEquals(Golden.floats(golden.path("timesteps")), denoising.timesteps(), 1e-4f);

        int first = golden.path("first").asInt();
        float[] clean = Golden.floats(GOLDEN.path("clean"));
        float[] noise = Golden.floats(GOLDEN.path("noise"));
        float scale = denoising.initialScale();
        float[] latents = first > 0 ? denoising.noisy(clean, noise, first) : Latents.combine(scale, clean, 0f, clean);
        assertClose(golden, 0, latents);
        for (int step = first; step < denoising.timesteps().length; step++) {
            float[] before = latents.clone();
            float[] prediction =
                    Latents.combine(0.5f, denoising.scaled(latents, step), 1f, Golden.floats(GOLDEN.path("bias")));
            float[] next = denoising.step(prediction, latents, step);
            assertArrayEquals(before, latents, "a step leaves its input as it is");
            latents = next;
            assertClose(golden, step - first + 1, latents);
        }
    }

    /** Except where a schedule is rescaled: torch takes those square roots from MKL, which does not round them correctly. */
    static Stream<Case> casesWithTheSchedulesOfTheirBetas() {
        return cases().filter(example -> !example.golden().path("config").has("rescale_betas_zero_snr"));
    }

    @ParameterizedTest
    @MethodSource("casesWithTheSchedulesOfTheirBetas")
    void whatIsLeftOfAPictureAtEachTimestepIsTorchsToTheBit(Case example) {
        SchedulerOptions options = new SchedulerOptions("test", example.golden().path("config"));
        String alphas = Golden.sha256(NoiseSchedule.of(options).alphas());
        assertEquals(example.golden().path("alphas").asText(), alphas);
    }

    private static void assertClose(JsonNode golden, int state, float[] latents) {
        float[] expected = Golden.floats(golden.path("states").path(state));
        for (int i = 0; i < expected.length; i++) {
            float tolerance = EXACT * Math.max(1f, Math.abs(expected[i]));
            assertEquals(expected[i], latents[i], tolerance, "state " + state + ", value " + i);
        }
    }
}
