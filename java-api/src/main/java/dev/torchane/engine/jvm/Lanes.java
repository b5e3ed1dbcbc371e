package dev.torchane.engine.jvm;

/** The shape of every reduction over a row: so many partial sums, folded in halves, whatever the width of the hardware's vectors. */
final class Lanes {

    /** Partial sums of a reduction, and outputs in one panel of a linear layer. */
    static final int COUNT = 16;

    private Lanes() {}

    /** {@code size} rounded up to a multiple of {@link #COUNT}. */
    static int roundUp(int size) {
        return Math.ceilDiv(size, COUNT) * COUNT;
    }

    /** Folds {@link #COUNT} partial sums at {@code offset} in halves: 8, 4, 2, 1. Overwrites them. */
    static float fold(float[] sums, int offset) {
        for (int half = COUNT / 2; half > 0; half /= 2) {
            for (int lane = 0; lane < half; lane++) {
                sums[offset + lane] += sums[offset + lane + half];
            }
        }
        return sums[offset];
    }

    /** Folds {@link #COUNT} partial sums over 2, 1, 8 and 4 lanes: the order in which four reductions fold together. */
    static float foldByFour(float[] sums, int offset) {
        for (int step : new int[] {2, 1, 8, 4}) {
            for (int lane = 0; lane < COUNT; lane++) {
                if ((lane & step) == 0) {
                    sums[offset + lane] += sums[offset + lane + step];
                }
            }
        }
        return sums[offset];
    }
}
