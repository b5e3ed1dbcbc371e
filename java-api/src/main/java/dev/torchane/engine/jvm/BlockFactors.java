package dev.torchane.engine.jvm;

/**
 * Factors and shifts of blocks of weights, kept as small as the format keeps them: arrays of {@code [panel][block][16]}.
 * The shift is {@code -zero * factor}, plus or minus a minimum in the formats that have one; one of the two is zero.
 */
sealed interface BlockFactors {

    /** Inputs in a block: 16 to {@link LinearScratch#CHUNK}. */
    int block();

    /** Blocks along the inputs. */
    int count();

    /** Whether any shift is not zero. */
    boolean shifted();

    /** Writes the factors of one panel as fp32, {@code [block][16]}, and then its shifts if there are any. */
    void expand(int panel, float[] to, int at);

    /** Factors in fp32. */
    record Floats(int block, int count, float zero, float[] factors) implements BlockFactors {
        @Override
        public boolean shifted() {
            return zero != 0;
        }

        @Override
        public void expand(int panel, float[] to, int at) {
            int size = count * Lanes.COUNT;
            System.arraycopy(factors, panel * size, to, at, size);
            if (shifted()) {
                shifts(zero, size, to, at);
            }
        }
    }

    /** Factors in fp16 and, unless the array is empty, minima in fp16 that are added. */
    record Halves(int block, int count, float zero, short[] factors, short[] minima) implements BlockFactors {
        @Override
        public boolean shifted() {
            return zero != 0 || minima.length > 0;
        }

        @Override
        public void expand(int panel, float[] to, int at) {
            int size = count * Lanes.COUNT;
            ScalarKernels.halves(factors, panel * size, to, at, size);
            if (minima.length > 0) {
                ScalarKernels.halves(minima, panel * size, to, at + size, size);
            } else if (shifted()) {
                shifts(zero, size, to, at);
            }
        }
    }

    /**
     * ggml's super-blocks: the factor is {@code d * scale}, and the minimum, which is subtracted, {@code dmin * minimum}.
     *
     * @param ratio blocks in a super-block, which has one {@code d} and {@code dmin} of fp16
     * @param dmins empty when there are no minima
     */
    record Nested(int block, int count, float zero, int ratio, short[] ds, byte[] scales, short[] dmins, byte[] minima)
            implements BlockFactors {
        @Override
        public boolean shifted() {
            return zero != 0 || dmins.length > 0;
        }

        @Override
        public void expand(int panel, float[] to, int at) {
            int size = count * Lanes.COUNT;
            products(panel, ds, scales, to, at);
            if (dmins.length > 0) {
                products(panel, dmins, minima, to, at + size);
                negate(to, at + size, size);
            } else if (shifted()) {
                shifts(zero, size, to, at);
            }
        }

        private void products(int panel, short[] halves, byte[] bytes, float[] to, int at) {
            int size = count * Lanes.COUNT;
            int supers = count / ratio;
            for (int i = 0; i < size; i++) {
                to[at + i] = bytes[panel * size + i];
            }
            for (int i = 0; i < supers; i++) {
                int outer = (panel * supers + i) * Lanes.COUNT;
                for (int lane = 0; lane < Lanes.COUNT; lane++) {
                    float factor = Float.float16ToFloat(halves[outer + lane]);
                    int from = at + i * ratio * Lanes.COUNT + lane;
                    for (int j = 0; j < ratio; j++) {
                        to[from + j * Lanes.COUNT] *= factor;
                    }
                }
            }
        }

        private static void negate(float[] values, int at, int size) {
            for (int i = 0; i < size; i++) {
                values[at + i] = -values[at + i];
            }
        }
    }

    /** Writes shifts of {@code -zero * factor} behind the factors. */
    static void shifts(float zero, int size, float[] to, int at) {
        for (int i = 0; i < size; i++) {
            to[at + size + i] = -zero * to[at + i];
        }
    }
}
