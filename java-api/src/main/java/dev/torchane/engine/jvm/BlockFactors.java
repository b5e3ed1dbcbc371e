package dev.torchane.engine.jvm;

/**
 * Factors and shifts of blocks of weights, kept as small as the format keeps them: arrays of {@code [panel][block][16]}.
 * The shift is {@code -zero * factor}, plus or minus a minimum in the formats that have one; one of the two is zero.
 */
sealed interface BlockFactors {

    /** Inputs in a block; a multiple of 16. */
    int block();

    /** Blocks along the inputs. */
    int count();

    /** Writes the factors and shifts of one panel as fp32, {@code [block][factor or shift][16]}. */
    void expand(int panel, float[] to, int at);

    /** Factors in fp32. */
    record Floats(int block, int count, float zero, float[] factors) implements BlockFactors {
        @Override
        public void expand(int panel, float[] to, int at) {
            int from = panel * count * Lanes.COUNT;
            for (int i = 0; i < count; i++) {
                System.arraycopy(factors, from + i * Lanes.COUNT, to, at + 2 * i * Lanes.COUNT, Lanes.COUNT);
            }
            shifts(zero, count, to, at);
        }
    }

    /** Factors in fp16 and, unless the array is empty, minima in fp16 that are added. */
    record Halves(int block, int count, float zero, short[] factors, short[] minima) implements BlockFactors {
        @Override
        public void expand(int panel, float[] to, int at) {
            int from = panel * count * Lanes.COUNT;
            halves(factors, from, count, to, at);
            if (minima.length > 0) {
                halves(minima, from, count, to, at + Lanes.COUNT);
            } else {
                shifts(zero, count, to, at);
            }
        }

        private static void halves(short[] data, int from, int count, float[] to, int at) {
            for (int i = 0; i < count; i++) {
                int row = from + i * Lanes.COUNT;
                int target = at + 2 * i * Lanes.COUNT;
                for (int lane = 0; lane < Lanes.COUNT; lane++) {
                    to[target + lane] = Float.float16ToFloat(data[row + lane]);
                }
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
        public void expand(int panel, float[] to, int at) {
            products(panel, ds, scales, 1, to, at);
            if (dmins.length > 0) {
                products(panel, dmins, minima, -1, to, at + Lanes.COUNT);
            } else {
                shifts(zero, count, to, at);
            }
        }

        private void products(int panel, short[] halves, byte[] bytes, int sign, float[] to, int at) {
            int supers = count / ratio;
            for (int i = 0; i < count; i++) {
                int outer = (panel * supers + i / ratio) * Lanes.COUNT;
                int inner = (panel * count + i) * Lanes.COUNT;
                int target = at + 2 * i * Lanes.COUNT;
                for (int lane = 0; lane < Lanes.COUNT; lane++) {
                    to[target + lane] = Float.float16ToFloat(halves[outer + lane]) * (sign * bytes[inner + lane]);
                }
            }
        }
    }

    private static void shifts(float zero, int count, float[] to, int at) {
        for (int i = 0; i < count; i++) {
            int row = at + 2 * i * Lanes.COUNT;
            for (int lane = 0; lane < Lanes.COUNT; lane++) {
                to[row + Lanes.COUNT + lane] = -zero * to[row + lane];
            }
        }
    }
}
