package dev.torchane.diffusion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pictures from numbers and back, and in files that tell how they were made. */
class PicturesTest {

    @TempDir
    Path directory;

    @Test
    void numbersAreRoundedToLevelsAsDiffusersRoundsThem() {
        float[] pixels = {-1f, 1f, 0f, 2f, -7f, 0.00392f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
        BufferedImage image = Pixels.image(pixels, 2, 2);
        // numpy: ((x * 0.5 + 0.5).clip(0, 1) * 255).round()
        assertEquals(166, image.getRGB(0, 0) & 0xffffff);
        assertEquals(255 << 16 | 128 << 8 | 178, image.getRGB(1, 0) & 0xffffff);
        assertEquals(128 << 16 | 140 << 8 | 191, image.getRGB(0, 1) & 0xffffff);
        assertEquals(255 << 16 | 153 << 8 | 204, image.getRGB(1, 1) & 0xffffff);
    }

    @Test
    void aPictureOfTheRightSizeComesBackAsItIs() {
        BufferedImage image = new BufferedImage(8, 16, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < 16; y++) {
            for (int x = 0; x < 8; x++) {
                image.setRGB(x, y, x << 20 | y << 11 | x * y);
            }
        }
        BufferedImage again = Pixels.image(Pixels.of(image, 8, 16), 8, 16);
        assertArrayEquals(image.getRGB(0, 0, 8, 16, null, 0, 8), again.getRGB(0, 0, 8, 16, null, 0, 8));
    }

    @Test
    void aPictureOfAnotherSizeIsScaledAndTransparencyIsOverWhite() {
        BufferedImage image = new BufferedImage(4, 4, BufferedImage.TYPE_INT_ARGB);
        for (float value : Pixels.of(image, 8, 8)) {
            assertEquals(1f, value);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a cat\nSteps: 20, Seed: 0", "кот 猫 🐈\nSteps: 20"})
    void aFileHoldsItsParametersWhateverTheyAreWrittenIn(String parameters) throws IOException {
        Path file = directory.resolve("cat.png");
        Files.writeString(file, "what was there before");
        PngFile.write(Pixels.image(new float[3 * 64], 8, 8), "parameters", parameters, file);
        assertEquals(parameters, text(file));
        assertEquals(8, ImageIO.read(file.toFile()).getWidth());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(1, files.count(), "nothing is left beside it");
        }
    }

    private static String text(Path file) throws IOException {
        ImageReader reader = ImageIO.getImageReadersByFormatName("png").next();
        try (ImageInputStream in = ImageIO.createImageInputStream(file.toFile())) {
            reader.setInput(in);
            IIOMetadataNode root = (IIOMetadataNode) reader.getImageMetadata(0).getAsTree("javax_imageio_png_1.0");
            for (String kind : new String[] {"tEXt", "iTXt"}) {
                if (root.getElementsByTagName(kind + "Entry").item(0) instanceof IIOMetadataNode entry) {
                    assertEquals("parameters", entry.getAttribute("keyword"));
                    return entry.getAttribute(kind.equals("tEXt") ? "value" : "text");
                }
            }
        }
        throw new AssertionError("no text");
    }
}
