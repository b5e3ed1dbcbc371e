package dev.torchane.diffusion;

import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;

/** Pictures from what the VAE decodes, and what the VAE encodes from pictures. */
public final class Pixels {

    private static final int CHANNELS = 3;

    private Pixels() {}

    /**
     * The picture, rounded as diffusers rounds it.
     *
     * @param pixels {@code [3, height, width]} in −1 to 1; what is beyond is clamped
     */
    public static BufferedImage image(float[] pixels, int width, int height) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        int plane = width * height;
        int[] row = new int[width];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int at = y * width + x;
                row[x] = level(pixels[at]) << 16 | level(pixels[plane + at]) << 8 | level(pixels[2 * plane + at]);
            }
            image.setRGB(0, y, width, 1, row, 0, width);
        }
        return image;
    }

    /**
     * The picture's colours as the VAE wants them, {@code [3, height, width]} in −1 to 1. Transparency is over white, and a picture of
     * another size is scaled.
     */
    public static float[] of(BufferedImage image, int width, int height) {
        BufferedImage opaque = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = opaque.createGraphics();
        try {
            graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BICUBIC);
            graphics.drawImage(image, 0, 0, width, height, java.awt.Color.WHITE, null);
        } finally {
            graphics.dispose();
        }
        int plane = width * height;
        float[] pixels = new float[CHANNELS * plane];
        int[] rgb = opaque.getRGB(0, 0, width, height, null, 0, width);
        for (int at = 0; at < plane; at++) {
            for (int channel = 0; channel < CHANNELS; channel++) {
                int level = rgb[at] >> (16 - 8 * channel) & 0xff;
                pixels[channel * plane + at] = 2f * (level / 255f) - 1f;
            }
        }
        return pixels;
    }

    private static int level(float value) {
        float unit = Math.clamp(value * 0.5f + 0.5f, 0f, 1f);
        return (int) Math.rint(unit * 255f);
    }
}
