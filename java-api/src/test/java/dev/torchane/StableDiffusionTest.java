package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.diffusion.FakePipeline;
import dev.torchane.diffusion.NonFiniteException;
import dev.torchane.diffusion.PipelineConfig;
import dev.torchane.diffusion.SchedulerKind;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pictures through the public API, with models that compute next to nothing. */
class StableDiffusionTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ImageOptions FEW = ImageOptions.defaults().withSteps(3).withSeed(0);

    @TempDir
    Path directory;

    private final FakePipeline pipeline = new FakePipeline();
    private final AtomicInteger freed = new AtomicInteger();
    private StableDiffusion sd;

    @BeforeEach
    void open() throws IOException {
        writePipeline(directory);
        sd = new StableDiffusion(
                "tiny", PipelineConfig.read(directory), ImageSize.square(16), pipeline.loop(), freed::incrementAndGet);
    }

    @AfterEach
    void close() {
        sd.close();
    }

    @Test
    void aPictureHasItsSizeItsSeedAndItsParameters() {
        GeneratedImage picture = sd.generate(
                "a cat", FEW.withNegativePrompt("a dog").withGuidance(5).withScheduler(SchedulerKind.EULER));
        assertEquals(16, picture.image().getWidth());
        assertEquals(16, picture.image().getHeight());
        assertEquals(0, picture.seed());
        assertEquals(
                "a cat\nNegative prompt: a dog\n"
                        + "Steps: 3, Sampler: EulerDiscreteScheduler, CFG scale: 5.0, Seed: 0, Size: 16x16, Model: tiny",
                picture.parameters());
        assertEquals(3, picture.timings().unetNanos().size());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1L << 32, 12345})
    void aSeedRepeatsItsPicture(long seed) {
        assertArrayEquals(pixels(FEW.withSeed(seed)), pixels(FEW.withSeed(seed)));
    }

    @Test
    void aSeedThatWasDrawnIsToldSoThatThePictureCanBeMadeAgain() {
        ImageOptions drawn = ImageOptions.defaults().withSteps(3);
        assertEquals(OptionalLong.empty(), drawn.seed());
        GeneratedImage first = sd.generate("a cat", drawn);
        GeneratedImage again = sd.generate("a cat", drawn.withSeed(first.seed()));
        assertArrayEquals(pixels(first), pixels(again));
    }

    @ParameterizedTest
    @CsvSource({"76, 0", "77, 0", "78, 1", "200, 123"})
    void promptsBeyondTheTextEncodersLengthAreCutAndToldWhicheverOfTheTwoIsLong(int tokens, int cut) {
        String text = "cat ".repeat(tokens - 2);
        String expected = "cat ".repeat(cut).strip();
        GeneratedImage longPrompt = sd.generate(text, FEW);
        assertEquals(expected, longPrompt.cutPrompt());
        assertEquals("", longPrompt.cutNegativePrompt());
        GeneratedImage longNegative = sd.generate("", FEW.withNegativePrompt(text));
        assertEquals("", longNegative.cutPrompt());
        assertEquals(expected, longNegative.cutNegativePrompt());
    }

    @ParameterizedTest
    @CsvSource({
        "513, 512, the nearest widths are 512 and 520",
        "512, 500, the nearest heights are 496 and 504",
        "0, 512, the nearest width is 8",
        "-8, 512, the nearest width is 8",
        "100000, 512, the nearest width is 16384"
    })
    void aSizeThatIsNoMultipleOf8IsRefusedWithTheNearest(int width, int height, String message) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> FEW.withSize(width, height));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    @Test
    void aSizeThatTheModelWasNotBuiltForIsRefusedWithTheOneThatItWas() {
        ImageOptions other = FEW.withSize(520, 520);
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> sd.generate("a cat", other));
        assertTrue(refused.getMessage().contains("built for 16x16"), refused.getMessage());
    }

    @Test
    void aPictureIsMadeFromAPicture() {
        BufferedImage start = new BufferedImage(32, 32, BufferedImage.TYPE_INT_RGB);
        GeneratedImage picture =
                sd.generate("a cat", FEW.withSteps(10).withStart(start, 0.5).withScheduler(SchedulerKind.DDIM));
        assertEquals(5, picture.timings().unetNanos().size());
        assertTrue(picture.parameters().contains("Denoising strength: 0.5"), picture.parameters());
        assertThrows(IllegalArgumentException.class, () -> FEW.withStart(start, 0));
        assertThrows(IllegalArgumentException.class, () -> FEW.withStart(start, 1.5));
    }

    @Test
    void everyStepCanBeLookedAt() {
        List<String> seen = new ArrayList<>();
        List<BufferedImage> previews = new ArrayList<>();
        GeneratedImage picture = sd.generate("a cat", FEW.withOnStep(step -> {
            seen.add(step.number() + "/" + step.count());
            previews.add(step.preview());
        }));
        assertEquals(List.of("1/3", "2/3", "3/3"), seen);
        assertArrayEquals(pixels(picture), pixels(previews.getLast()));
    }

    @Test
    void anOverflowIsAnErrorWithItsStep() {
        pipeline.overflowsAt = 2;
        NonFiniteException failure = assertThrows(NonFiniteException.class, () -> sd.generate("a cat", FEW));
        assertEquals(2, failure.step());
    }

    @Test
    void cancellingTheFutureEndsThePictureAfterItsStep() throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        pipeline.onUnet = call -> {
            first.countDown();
            await(goOn);
        };
        CompletableFuture<GeneratedImage> future = sd.generateAsync("a cat", FEW);
        first.await();
        future.cancel(true);
        goOn.countDown();
        sd.close();
        awaitFreed();
        assertEquals(1, pipeline.batches.size());
    }

    @Test
    void aCancellationAndAnInterruptDoTheSame() {
        Cancellation cancellation = new Cancellation();
        pipeline.onUnet = call -> cancellation.cancel();
        assertThrows(CancellationException.class, () -> sd.generate("a cat", FEW.withCancellation(cancellation)));
        pipeline.onUnet = call -> Thread.currentThread().interrupt();
        assertThrows(CancellationException.class, () -> sd.generate("a cat", FEW));
        assertTrue(Thread.interrupted());
        assertEquals(2, pipeline.batches.size());
    }

    @Test
    void closingEndsThePictureThatIsBeingMadeAndFreesTheModelsAfterwards() throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        pipeline.onUnet = call -> {
            first.countDown();
            await(goOn);
        };
        CompletableFuture<GeneratedImage> future = sd.generateAsync("a cat", FEW);
        first.await();
        sd.close();
        sd.close();
        assertEquals(0, freed.get());
        goOn.countDown();
        assertThrows(CancellationException.class, future::join);
        awaitFreed();
        assertThrows(IllegalStateException.class, () -> sd.generate("a cat", FEW));
    }

    @ParameterizedTest
    @CsvSource({
        "model_index.json, StableDiffusionPipeline, StableDiffusionXLPipeline, is a StableDiffusionXLPipeline",
        "model_index.json, CLIPTextModel, T5EncoderModel, text_encoder is a T5EncoderModel",
        "unet/config.json, '\"in_channels\": 4', '\"in_channels\": 9', takes 9 channels",
        "unet/config.json, '\"in_channels\"', '\"addition_embed_type\": \"text\", \"in_channels\"', addition_embed_type",
        "text_encoder/config.json, '\"hidden_size\"', '\"use_attention_mask\": true, \"hidden_size\"', use_attention_mask",
        "vae/config.json, '{', '[', is not JSON",
    })
    void anotherKindOfPipelineIsRefusedByName(String file, String found, String replacement, String message)
            throws IOException {
        Path path = directory.resolve(file);
        Files.writeString(path, Files.readString(path).replace(found, replacement));
        TorchAneException refused = assertThrows(TorchAneException.class, () -> PipelineConfig.read(directory));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    private int[] pixels(ImageOptions options) {
        return pixels(sd.generate("a cat", options));
    }

    private static int[] pixels(GeneratedImage picture) {
        return pixels(picture.image());
    }

    private static int[] pixels(BufferedImage image) {
        return image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
    }

    private void awaitFreed() throws InterruptedException {
        for (int i = 0; i < 500 && freed.get() == 0; i++) {
            Thread.sleep(10);
        }
        assertEquals(1, freed.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The small files of a pipeline. */
    static void writePipeline(Path directory) throws IOException {
        write(directory.resolve("model_index.json"), """
                {"_class_name": "StableDiffusionPipeline", "text_encoder": ["transformers", "CLIPTextModel"],
                 "unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"],
                 "tokenizer": ["transformers", "CLIPTokenizer"], "scheduler": ["diffusers", "PNDMScheduler"]}""");
        write(
                directory.resolve("unet/config.json"),
                "{\"in_channels\": 4, \"out_channels\": 4, \"sample_size\": 2, \"class_embed_type\": null}");
        write(
                directory.resolve("vae/config.json"),
                "{\"latent_channels\": 4, \"scaling_factor\": 0.5, \"block_out_channels\": [8, 8, 8, 8]}");
        write(directory.resolve("text_encoder/config.json"), "{\"hidden_size\": 2, \"max_position_embeddings\": 77}");
        write(directory.resolve("scheduler/scheduler_config.json"), """
                {"_class_name": "PNDMScheduler", "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear",
                 "skip_prk_steps": true, "steps_offset": 1}""");
        try (InputStream in = StableDiffusionTest.class.getResourceAsStream("diffusion/clip_golden.json")) {
            JsonNode tokenizer = MAPPER.readTree(in).path(0).path("files");
            for (Map.Entry<String, JsonNode> file : tokenizer.properties()) {
                write(
                        directory.resolve("tokenizer").resolve(file.getKey()),
                        file.getValue().asText());
            }
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
