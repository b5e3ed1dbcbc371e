package dev.torchane.diffusion;

/** Which of the training timesteps a number of steps visits, as the table 2 of Lin et al. (2023) names the ways. */
enum Timesteps {
    /** From the first to the last, both included. */
    LINSPACE,
    /** Whole multiples of a distance, plus an offset. */
    LEADING,
    /** Counted down from the last. */
    TRAILING;

    /** {@code count} numbers from 0 to {@code last}, ascending. */
    static double[] evenlySpaced(double last, int count) {
        double[] values = new double[count];
        double step = count == 1 ? 0 : last / (count - 1);
        for (int i = 0; i < count; i++) {
            values[i] = i * step;
        }
        if (count > 1) {
            values[count - 1] = last;
        }
        return values;
    }

    static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /**
     * The timesteps, descending.
     *
     * @param train number of training timesteps
     * @param rounded whether {@link #LINSPACE} gives whole numbers
     */
    double[] descending(int train, int steps, int offset, boolean rounded) {
        return switch (this) {
            case LINSPACE -> {
                double[] spaced = evenlySpaced(train - 1, steps);
                double[] values = new double[steps];
                for (int i = 0; i < steps; i++) {
                    double value = spaced[steps - 1 - i];
                    values[i] = rounded ? Math.rint(value) : value;
                }
                yield values;
            }
            case LEADING -> multiples(train / steps, steps, offset);
            case TRAILING -> countedDown(train, (double) train / steps);
        };
    }

    /** {@code steps} multiples of a distance, the largest first. */
    static double[] multiples(int distance, int steps, int offset) {
        double[] values = new double[steps];
        for (int i = 0; i < steps; i++) {
            values[i] = (double) (steps - 1 - i) * distance + offset;
        }
        return values;
    }

    static double[] countedDown(int last, double distance) {
        int count = (int) Math.ceil(last / distance);
        double delta = last - distance - last;
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = Math.rint(last + i * delta) - 1;
        }
        return values;
    }
}
