package dev.torchane.engine.jvm;

/**
 * Weights of a linear layer in the order its kernel reads them: panels of {@link Lanes#COUNT} outputs, within a panel input by
 * input, {@code [ceil(outputs / 16)][inputs][16]}; the last panel is filled with zeros. {@link #PADDING} elements follow.
 *
 * <p>In the forms of 4 bits some inputs of an output share bytes, the first one lowest: two inputs one byte in palettes, eight
 * inputs four bytes in blocks, {@code [panel][inputs / 8][16][4]}, which a kernel takes as integers.
 */
sealed interface Panels {

    /** Elements after the last panel, so that a vector load may read past it. */
    int PADDING = 16;

    int outputs();

    int inputs();

    default int count() {
        return Math.ceilDiv(outputs(), Lanes.COUNT);
    }

    /** Factor of each output, or null when the weights are the values themselves. */
    default float[] scale() {
        return null;
    }

    /** Inputs whose products are summed by themselves before they are added to those of the inputs before. */
    default int block() {
        return LinearScratch.CHUNK;
    }

    /** Blocks along the inputs. */
    default int blocks() {
        return Math.ceilDiv(inputs(), block());
    }

    /** Whether each block has factors, {@code [block][16]} at the beginning of a panel's tables. */
    default boolean factored() {
        return false;
    }

    /** Where the shifts of the blocks, {@code [block][16]}, stand in a panel's tables; -1 when they have none. */
    default int shifts() {
        return -1;
    }

    /** Floats that {@link #tables} writes for one panel. */
    default int tableSize() {
        return 0;
    }

    /** Writes what expands the weights of one panel: see the forms. */
    default void tables(int panel, float[] to, int at) {}

    /** Values in fp32. */
    record F32(int outputs, int inputs, float[] data) implements Panels {}

    /** Values in fp16. */
    record F16(int outputs, int inputs, short[] data) implements Panels {}

    /** Values of int8, times a factor for each output that is applied to the sum. */
    record I8(int outputs, int inputs, byte[] data, float[] scale) implements Panels {}

    /**
     * {@code value = quant * factor + shift}, with a factor and a shift for each block of inputs of an output. Quants are 0 to 15 or
     * int8. Kernels do not make the values: they add the products of the shifts with the sums of blocks of inputs, and then
     * for each block the products of its quants, times the factor.
     *
     * @param nibbles whether quants have 4 bits: blocks are multiples of 8 inputs then
     */
    record Blocks(int outputs, int inputs, boolean nibbles, byte[] quants, BlockFactors factors) implements Panels {

        @Override
        public int block() {
            return factors.block();
        }

        @Override
        public boolean factored() {
            return true;
        }

        @Override
        public int shifts() {
            return factors.shifted() ? factors.count() * Lanes.COUNT : -1;
        }

        @Override
        public int tableSize() {
            return factors.count() * (factors.shifted() ? 2 : 1) * Lanes.COUNT;
        }

        /** Factors {@code [block][16]}, then shifts if there are any. */
        @Override
        public void tables(int panel, float[] to, int at) {
            factors.expand(panel, to, at);
        }
    }

    /**
     * {@code value = table[index]}, indices of 4 bits, one table of 16 values for each {@link #SPAN} outputs.
     *
     * @param entries {@code [panel][2][16]}
     */
    record Palette(int outputs, int inputs, byte[] indices, float[] entries) implements Panels {

        /** Outputs that share a table. */
        static final int SPAN = Lanes.COUNT / 2;

        static final int ENTRIES = 16;

        @Override
        public int tableSize() {
            return 2 * ENTRIES;
        }

        /** {@code [2][16]}. */
        @Override
        public void tables(int panel, float[] to, int at) {
            System.arraycopy(entries, panel * 2 * ENTRIES, to, at, 2 * ENTRIES);
        }
    }

    /** Elements that the array behind panels of this shape has. */
    static int length(int outputs, int inputs) {
        return Math.addExact(Math.multiplyExact(Lanes.roundUp(outputs), inputs), PADDING);
    }

    /** Bytes that the array behind panels of this shape has when an input has 4 bits. */
    static int packedLength(int outputs, int inputs) {
        return Math.addExact(Math.multiplyExact(Lanes.roundUp(outputs), inputs / 2), PADDING);
    }

    /** Packs {@code [count][inner]}, outputs as they lie, into {@code [count / 16][inner][16]} from an offset on. */
    static void packRows(float[] y, int from, int inner, int count, float[] to, int offset) {
        for (int panel = 0; panel * Lanes.COUNT < count; panel++) {
            int lanes = Math.min(Lanes.COUNT, count - panel * Lanes.COUNT);
            int at = offset + panel * inner * Lanes.COUNT;
            if (lanes < Lanes.COUNT) {
                java.util.Arrays.fill(to, at, at + inner * Lanes.COUNT, 0f);
            }
            for (int lane = 0; lane < lanes; lane++) {
                int row = from + (panel * Lanes.COUNT + lane) * inner;
                for (int k = 0; k < inner; k++) {
                    to[at + k * Lanes.COUNT + lane] = y[row + k];
                }
            }
        }
    }

    /** Packs {@code [inner][stride]}, {@code count} outputs of each, into {@code [count / 16][inner][16]}. */
    static void packColumns(float[] y, int from, int stride, int inner, int count, float[] to) {
        for (int panel = 0; panel * Lanes.COUNT < count; panel++) {
            int lanes = Math.min(Lanes.COUNT, count - panel * Lanes.COUNT);
            int at = panel * inner * Lanes.COUNT;
            if (lanes < Lanes.COUNT) {
                java.util.Arrays.fill(to, at, at + inner * Lanes.COUNT, 0f);
            }
            for (int k = 0; k < inner; k++) {
                int column = from + k * stride + panel * Lanes.COUNT;
                System.arraycopy(y, column, to, at + k * Lanes.COUNT, lanes);
            }
        }
    }
}
