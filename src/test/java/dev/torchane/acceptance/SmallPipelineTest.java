package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.CompileOptions;
import dev.torchane.GeneratedImage;
import dev.torchane.ImageOptions;
import dev.torchane.ImageSize;
import dev.torchane.StableDiffusion;
import dev.torchane.StableDiffusionOptions;
import dev.torchane.diffusion.SchedulerChoice;
import dev.torchane.diffusion.SchedulerKind;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A pipeline of diffusers' own classes with random weights: built here, and compared with what diffusers itself made of it. */
class SmallPipelineTest {

    private static final JsonNode GOLDEN = golden();
    private static final double LATENTS = 1e-3;
    private static final int LEVELS = 2;
    private static final int SIDE = 64;

    @TempDir
    static Path folder;

    private static Path bundle;
    private static StableDiffusion sd;

    record Case(JsonNode golden) {

        SchedulerKind kind() {
            return Arrays.stream(SchedulerKind.values())
                    .filter(kind -> kind.className().equals(golden.path("class").asText()))
                    .findFirst()
                    .orElseThrow();
        }

        ImageOptions options() {
            ImageOptions options = ImageOptions.defaults()
                    .withSteps(GOLDEN.path("steps").asInt())
                    .withSeed(GOLDEN.path("seed").asLong())
                    .withNegativePrompt(GOLDEN.path("negative").asText())
                    .withGuidance(golden.path("guidance").asDouble(7.5))
                    .withScheduler(new SchedulerChoice(
                            Optional.of(kind()),
                            golden.path("use_karras_sigmas").asBoolean()));
            return golden.has("strength")
                    ? options.withStart(picture(), golden.path("strength").asDouble())
                    : options;
        }

        @Override
        public String toString() {
            return kind()
                    + (golden.path("use_karras_sigmas").asBoolean() ? ", Karras sigmas" : "")
                    + (golden.has("guidance") ? ", without guidance" : "")
                    + (golden.has("strength") ? ", from a picture" : "");
        }
    }

    static Stream<Case> cases() {
        return StreamSupport.stream(GOLDEN.path("cases").spliterator(), false).map(Case::new);
    }

    @BeforeAll
    static void buildThePipeline() {
        StableDiffusionOptions options = StableDiffusionOptions.defaults()
                .withCompile(
                        CompileOptions.builder().cache(folder.resolve("cache")).build())
                .withFromPictures(true);
        bundle = StableDiffusion.build(pipeline().toString(), options);
        sd = StableDiffusion.open(bundle, options.compile());
    }

    @AfterAll
    static void close() {
        if (sd != null) {
            sd.close();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void latentsOfEachStepAndThePictureAreThoseOfDiffusers(Case example) {
        List<float[]> latents = new ArrayList<>();
        GeneratedImage image = sd.generate(
                GOLDEN.path("prompt").asText(), example.options().withOnStep(step -> latents.add(step.latents())));

        JsonNode expected = example.golden().path("latents");
        assertEquals(expected.size(), latents.size());
        for (int step = 0; step < latents.size(); step++) {
            float[] diffusers = floats(expected.path(step));
            for (int i = 0; i < diffusers.length; i++) {
                double tolerance = LATENTS * Math.max(1, Math.abs(diffusers[i]));
                assertEquals(diffusers[i], latents.get(step)[i], tolerance, "step " + (step + 1) + ", value " + i);
            }
        }
        byte[] pixels =
                Base64.getDecoder().decode(example.golden().path("pixels").asText());
        for (int i = 0; i < SIDE * SIDE; i++) {
            int rgb = image.image().getRGB(i % SIDE, i / SIDE);
            for (int channel = 0; channel < 3; channel++) {
                int level = rgb >> (16 - 8 * channel) & 0xff;
                assertEquals(pixels[3 * i + channel] & 0xff, level, LEVELS, "pixel " + i + ", channel " + channel);
            }
        }
    }

    @Test
    void theBundleHasThePicturesSizeAndIsFoundAgain() {
        assertEquals(ImageSize.square(SIDE), sd.size());
        try (StableDiffusion again = StableDiffusion.fromPretrained(bundle, StableDiffusionOptions.defaults())) {
            assertArrayEquals(pixels(sd.generate("a cat", few(1))), pixels(again.generate("a cat", few(1))));
        }
    }

    @Test
    void twoPicturesAtOnceAreThoseOfOneAfterTheOther() {
        int[] first = pixels(sd.generate("a cat", few(1)));
        int[] second = pixels(sd.generate("a horse", few(2)));
        CompletableFuture<GeneratedImage> one = sd.generateAsync("a cat", few(1));
        CompletableFuture<GeneratedImage> other = sd.generateAsync("a horse", few(2));
        assertArrayEquals(first, pixels(one.join()));
        assertArrayEquals(second, pixels(other.join()));
    }

    @Test
    void timingsTellThePartsOfThePicture() {
        GeneratedImage image = sd.generate("a cat", few(1));
        assertEquals(2, image.timings().unetNanos().size());
        assertTrue(image.timings().totalNanos()
                > image.timings().textNanos() + image.timings().vaeNanos());
    }

    private static ImageOptions few(long seed) {
        return ImageOptions.defaults().withSteps(2).withSeed(seed);
    }

    private static int[] pixels(GeneratedImage image) {
        return image.image().getRGB(0, 0, SIDE, SIDE, null, 0, SIDE);
    }

    /** The picture that the golden script begins with. */
    private static BufferedImage picture() {
        BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                image.setRGB(x, y, x * 4 << 16 | y * 4 << 8 | x * y % 256);
            }
        }
        return image;
    }

    private static float[] floats(JsonNode packed) {
        byte[] bytes = Base64.getDecoder().decode(packed.asText());
        float[] values = new float[bytes.length / 4];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        return values;
    }

    private static Path pipeline() {
        try {
            return Path.of(SmallPipelineTest.class
                            .getResource("pipeline/model_index.json")
                            .toURI())
                    .getParent();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static JsonNode golden() {
        try (InputStream in = SmallPipelineTest.class.getResourceAsStream("pipeline_golden.json")) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
