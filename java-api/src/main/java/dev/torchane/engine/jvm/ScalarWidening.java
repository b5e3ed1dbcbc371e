package dev.torchane.engine.jvm;

/** Weights of a panel as fp32, without the factor of an output, in plain Java. */
final class ScalarWidening {

    private static final int L = Lanes.COUNT;

    private ScalarWidening() {}

    /**
     * Writes the weights of some inputs, {@code [to - from][16]}.
     *
     * @param from even
     * @param tables where {@code target} has what {@link Panels#tables} writes
     */
    static void widen(Panels w, int panel, int from, int to, float[] target, int tables, int at) {
        int first = (panel * w.inputs() + from) * L;
        int size = (to - from) * L;
        switch (w) {
            case Panels.F32 f32 -> System.arraycopy(f32.data(), first, target, at, size);
            case Panels.F16 f16 -> ScalarKernels.halves(f16.data(), first, target, at, size);
            case Panels.I8 i8 -> {
                for (int i = 0; i < size; i++) {
                    target[at + i] = i8.data()[first + i];
                }
            }
            case Panels.Palette palette -> palette(palette.indices(), first, size, target, tables, at);
            case Panels.Blocks blocks -> {
                int block = blocks.factors().block();
                int shifts = blocks.factors().count() * L;
                for (int k = from; k < to; k++) {
                    int i = (k - from) * L;
                    int table = tables + k / block * L;
                    if (blocks.nibbles()) {
                        nibbles(blocks.quants(), first + i, target, table, shifts, at + i);
                    } else {
                        bytes(blocks.quants(), first + i, target, table, shifts, at + i);
                    }
                }
            }
        }
    }

    private static void bytes(byte[] data, int from, float[] target, int table, int shifts, int at) {
        for (int lane = 0; lane < L; lane++) {
            target[at + lane] = Math.fma(data[from + lane], target[table + lane], target[table + shifts + lane]);
        }
    }

    private static void nibbles(byte[] data, int from, float[] target, int table, int shifts, int at) {
        for (int lane = 0; lane < L; lane++) {
            int quant = nibble(data, from + lane);
            target[at + lane] = Math.fma(quant, target[table + lane], target[table + shifts + lane]);
        }
    }

    private static void palette(byte[] data, int from, int size, float[] target, int tables, int at) {
        for (int i = 0; i < size; i++) {
            int half = i % L / Panels.Palette.SPAN;
            target[at + i] = target[tables + half * Panels.Palette.ENTRIES + nibble(data, from + i)];
        }
    }

    /** The element that would stand at an index if each had a byte. */
    private static int nibble(byte[] data, int index) {
        int input = index / L;
        return data[input / 2 * L + index % L] >> input % 2 * 4 & 15;
    }
}
