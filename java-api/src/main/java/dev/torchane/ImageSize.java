package dev.torchane;

import java.util.ArrayList;
import java.util.List;

/**
 * Size of a picture in pixels. Both sides are multiples of 8, because a latent stands for 8 by 8 pixels.
 *
 * @param width of the picture
 * @param height of the picture
 */
public record ImageSize(int width, int height) {

    private static final int UNIT = 8;
    private static final int LARGEST = 1 << 14;

    /** @throws IllegalArgumentException when a side is no multiple of 8; the message names the nearest that are */
    public ImageSize {
        List<String> wrong = new ArrayList<>();
        check("width", width, wrong);
        check("height", height, wrong);
        if (!wrong.isEmpty()) {
            throw new IllegalArgumentException(
                    "no picture of " + width + "x" + height + ": " + String.join("; ", wrong));
        }
    }

    /** A square. */
    public static ImageSize square(int side) {
        return new ImageSize(side, side);
    }

    private static void check(String name, int side, List<String> wrong) {
        int below = Math.min(side, LARGEST) / UNIT * UNIT;
        if (side < UNIT || side > LARGEST) {
            wrong.add("the nearest " + name + " is " + Math.max(UNIT, below));
        } else if (side != below) {
            wrong.add("the nearest " + name + "s are " + below + " and " + (below + UNIT));
        }
    }

    /** As in {@code 512x512}. */
    @Override
    public String toString() {
        return width + "x" + height;
    }
}
