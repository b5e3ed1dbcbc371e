package dev.torchane.engine.jvm;

/**
 * Weights of a linear layer in the order its kernel reads them: panels of {@link Lanes#COUNT} outputs, within a panel input by
 * input, {@code [ceil(outputs / 16)][inputs][16]}; the last panel is filled with zeros. {@link #PADDING} elements follow.
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
    float[] scale();

    record F32(int outputs, int inputs, float[] data) implements Panels {
        @Override
        public float[] scale() {
            return null;
        }
    }

    record F16(int outputs, int inputs, short[] data) implements Panels {
        @Override
        public float[] scale() {
            return null;
        }
    }

    record I8(int outputs, int inputs, byte[] data, float[] scale) implements Panels {}

    /** Elements that the array behind panels of this shape has. */
    static int length(int outputs, int inputs) {
        return Math.addExact(Math.multiplyExact(Lanes.roundUp(outputs), inputs), PADDING);
    }
}
