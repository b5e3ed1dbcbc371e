package dev.torchane.engine.jvm;

/**
 * Weights of a linear layer in the order its kernel reads them: panels of {@link Lanes#COUNT} outputs, within a panel input by
 * input, {@code [ceil(outputs / 16)][inputs][16]}; the last panel is filled with zeros. {@link #PADDING} elements follow.
 *
 * <p>In the forms of 4 bits two inputs share a byte: the even one has its low half.
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
     * {@code value = quant * factor + shift}, rounded once, with a factor and a shift for each block of inputs of an output. Quants
     * are 0 to 15, two in a byte, or int8. The product must be exact in fp32 for the value to be that of a formula that
     * rounds it.
     *
     * @param nibbles whether quants have 4 bits
     */
    record Blocks(int outputs, int inputs, boolean nibbles, byte[] quants, BlockFactors factors) implements Panels {

        @Override
        public int tableSize() {
            return factors.count() * 2 * Lanes.COUNT;
        }

        /** Factors {@code [block][16]}, then shifts. */
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

    /** Bytes that the array behind panels of this shape has when two inputs share one. */
    static int packedLength(int outputs, int inputs) {
        return Math.addExact(Math.multiplyExact(Lanes.roundUp(outputs), inputs / 2), PADDING);
    }
}
