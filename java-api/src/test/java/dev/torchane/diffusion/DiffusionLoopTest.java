package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** From ids to pixels: which models are run with what, and how a picture ends that cannot be finished. */
class DiffusionLoopTest {

    private static final int WORD = 600;
    private static final int NEGATIVE_WORD = 300;

    private final FakePipeline pipeline = new FakePipeline();

    @Test
    void withGuidanceTheUnetRunsForTwoPicturesTheNegativePromptFirst() {
        run(request(4, 7.5, 0));
        assertEquals(List.of(NEGATIVE_WORD, WORD), pipeline.words);
        assertEquals(List.of(2, 2, 2, 2), pipeline.batches);
    }

    @ParameterizedTest
    @CsvSource({"1.0", "0.0", "-3.0"})
    void withoutGuidanceTheUnetRunsForOneAndTheNegativePromptIsNotLookedAt(double guidance) {
        run(request(3, guidance, 0));
        assertEquals(List.of(WORD), pipeline.words);
        assertEquals(List.of(1, 1, 1), pipeline.batches);
    }

    @Test
    void guidanceGoesFromTheUnconditionalPredictionThroughTheConditionalOneAndBeyond() {
        DiffusionLoop.Picture weak = run(request(1, 1.0, 0));
        DiffusionLoop.Picture strong = run(request(1, 3.0, 0));
        // The fake UNet predicts 0.6 for the prompt and 0.3 for the negative one: 0.3 + 3 (0.6 - 0.3) = 1.2.
        Denoising denoising = scheduler(SchedulerKind.DDIM).begin(1);
        float[] noise = new TorchRandom(0).normal(16);
        float[] expectedWeak = denoising.step(Latents.combine(0.1f, noise, 1f, filled(0.6f)), noise, 0);
        float[] expectedStrong = denoising.step(Latents.combine(0.1f, noise, 1f, filled(1.2f)), noise, 0);
        assertArrayEquals(expectedWeak, weak.latents(), 1e-5f);
        assertArrayEquals(expectedStrong, strong.latents(), 1e-5f);
    }

    @ParameterizedTest
    @EnumSource(SchedulerKind.class)
    void theSeedDecidesEveryBitOfAPicture(SchedulerKind kind) {
        float[] once =
                run(request(5, 7.5, 42, scheduler(kind), Optional.empty())).pixels();
        float[] again =
                run(request(5, 7.5, 42, scheduler(kind), Optional.empty())).pixels();
        float[] other =
                run(request(5, 7.5, 43, scheduler(kind), Optional.empty())).pixels();
        assertArrayEquals(once, again);
        assertFalse(Arrays.equals(once, other));
    }

    @Test
    void picturesThatAreMadeAtTheSameTimeDoNotDisturbEachOther() {
        List<float[]> alone = new ArrayList<>();
        List<CompletableFuture<float[]>> together = new ArrayList<>();
        for (int seed = 0; seed < 4; seed++) {
            alone.add(run(request(10, 7.5, seed)).pixels());
        }
        for (int seed = 0; seed < 4; seed++) {
            DiffusionLoop.Request request = request(10, 7.5, seed);
            together.add(CompletableFuture.supplyAsync(() -> run(request).pixels()));
        }
        for (int seed = 0; seed < 4; seed++) {
            assertArrayEquals(alone.get(seed), together.get(seed).join());
        }
    }

    @Test
    void latentsThatAreNotFiniteAreAnErrorWithTheStepsNumber() {
        pipeline.overflowsAt = 3;
        NonFiniteException failure = assertThrows(NonFiniteException.class, () -> run(request(5, 7.5, 0)));
        assertEquals(3, failure.step());
        assertTrue(failure.getMessage().contains("non-finite latents at step 3 of 5"), failure.getMessage());
        assertEquals(3, pipeline.batches.size());
    }

    @Test
    void pixelsThatAreNotFiniteAreAnErrorAndNoBlackPicture() {
        pipeline.vaeOverflows = true;
        NonFiniteException failure = assertThrows(NonFiniteException.class, () -> run(request(2, 7.5, 0)));
        assertTrue(failure.getMessage().contains("pixels from the VAE"), failure.getMessage());
    }

    @Test
    void aPictureIsCancelledAfterTheStepThatIsBeingComputed() {
        AtomicBoolean cancelled = new AtomicBoolean();
        pipeline.onUnet = call -> cancelled.set(call == 2);
        List<Integer> seen = new ArrayList<>();
        CancellationException ended = assertThrows(
                CancellationException.class,
                () -> pipeline.loop().run(request(5, 7.5, 0), cancelled::get, step -> seen.add(step.number())));
        assertTrue(ended.getMessage().contains("before step 3 of 5"), ended.getMessage());
        assertEquals(2, pipeline.batches.size());
        assertEquals(List.of(1, 2), seen);
    }

    @Test
    void eachStepIsShownWithItsLatentsAndAsAPicture() {
        List<float[]> latents = new ArrayList<>();
        List<float[]> pictures = new ArrayList<>();
        DiffusionLoop.Picture picture = pipeline.loop().run(request(3, 1, 0), () -> false, step -> {
            assertEquals(3, step.count());
            latents.add(step.latents());
            pictures.add(step.decode());
            Arrays.fill(step.latents(), 9f);
        });
        assertEquals(3, latents.size());
        assertArrayEquals(picture.latents(), latents.getLast());
        assertArrayEquals(picture.pixels(), pictures.getLast());
        assertFalse(Arrays.equals(pictures.get(0), pictures.get(1)));
    }

    @Test
    void timingsHaveOneEntryForEachCallOfTheUnet() {
        DiffusionTimings timings = run(request(6, 7.5, 0, scheduler(SchedulerKind.PNDM), Optional.empty()))
                .timings();
        assertEquals(7, timings.unetNanos().size());
        long parts = timings.textNanos()
                + timings.vaeNanos()
                + timings.unetNanos().stream().mapToLong(Long::longValue).sum();
        assertTrue(parts > 0 && parts <= timings.totalNanos(), timings.toString());
    }

    @ParameterizedTest
    @CsvSource({"10, 1.0, 10", "10, 0.75, 7", "10, 0.1, 1", "3, 0.5, 1"})
    void ofAPictureMadeFromAPictureAsMuchIsComputedAsTheStrengthSays(int steps, double strength, int computed) {
        run(request(steps, 7.5, 0, scheduler(SchedulerKind.DDIM), Optional.of(grey(strength))));
        float[] all = scheduler(SchedulerKind.DDIM).begin(steps).timesteps();
        assertEquals(computed, pipeline.timesteps.size());
        assertEquals(all[steps - computed], pipeline.timesteps.getFirst());
    }

    @Test
    void aLittleStrengthLeavesThePictureNearlyAsItIs() {
        Optional<DiffusionLoop.Start> start = Optional.of(grey(0.02));
        DiffusionLoop.Picture picture = run(request(100, 1, 0, scheduler(SchedulerKind.DDIM), start));
        double sum = 0;
        for (float pixel : Arrays.copyOf(picture.pixels(), 2 * 16 * 16)) {
            sum += pixel;
        }
        assertEquals(0.5, sum / (2 * 16 * 16), 0.2);
    }

    @Test
    void aStrengthThatLeavesNoStepIsRefused() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> run(request(10, 7.5, 0, scheduler(SchedulerKind.DDIM), Optional.of(grey(0.05)))));
        assertTrue(refused.getMessage().contains("from 0.1 to 1"), refused.getMessage());
    }

    private DiffusionLoop.Picture run(DiffusionLoop.Request request) {
        return pipeline.loop().run(request, () -> false, step -> {});
    }

    private static DiffusionLoop.Request request(int steps, double guidance, long seed) {
        return request(steps, guidance, seed, scheduler(SchedulerKind.DDIM), Optional.empty());
    }

    private static DiffusionLoop.Request request(
            int steps, double guidance, long seed, Scheduler scheduler, Optional<DiffusionLoop.Start> start) {
        return new DiffusionLoop.Request(
                ids(WORD), ids(NEGATIVE_WORD), guidance, scheduler, steps, seed, 16, 16, start);
    }

    private static DiffusionLoop.Start grey(double strength) {
        float[] pixels = new float[3 * 16 * 16];
        Arrays.fill(pixels, 0.5f);
        return new DiffusionLoop.Start(pixels, strength);
    }

    private static int[] ids(int word) {
        int[] ids = new int[FakePipeline.TOKENS];
        ids[1] = word;
        return ids;
    }

    private static float[] filled(float value) {
        float[] values = new float[FakePipeline.CHANNELS * 2 * 2];
        Arrays.fill(values, value);
        return values;
    }

    private static Scheduler scheduler(SchedulerKind kind) {
        return Scheduler.of(
                "test",
                JsonNodeFactory.instance
                        .objectNode()
                        .put("beta_start", 0.00085)
                        .put("beta_end", 0.012)
                        .put("beta_schedule", "scaled_linear")
                        .put("skip_prk_steps", true)
                        .put("clip_sample", false),
                kind);
    }
}
