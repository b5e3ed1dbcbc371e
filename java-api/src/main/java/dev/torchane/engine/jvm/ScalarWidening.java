package dev.torchane.engine.jvm;

/** Weights of a panel as fp32, without the factors of outputs and blocks, in plain Java. */
final class ScalarWidening {

    private static final int L = Lanes.COUNT;

    private ScalarWidening() {}

    /**
     * Writes the weights of some inputs, {@code [to - from][16]}; nibbles of blocks as {@link BlockInputs} wants them.
     *
     * @param from a multiple of 8
     * @param tables where {@code target} has what {@link Panels#tables} writes
     */
    static void widen(Panels w, int panel, int from, int to, float[] target, int tables, int at) {
        int first = (panel * w.inputs() + from) * L;
        int size = (to - from) * L;
        switch (w) {
            case Panels.F32 f32 -> System.arraycopy(f32.data(), first, target, at, size);
            case Panels.F16 f16 -> ScalarKernels.halves(f16.data(), first, target, at, size);
            case Panels.I8 i8 -> bytes(i8.data(), first, size, target, at);
            case Panels.Palette palette -> palette(palette.indices(), first, size, target, tables, at);
            case Panels.Blocks blocks when blocks.nibbles() -> nibbles(blocks.quants(), first, size, target, at);
            case Panels.Blocks blocks -> bytes(blocks.quants(), first, size, target, at);
        }
    }

    private static void bytes(byte[] data, int from, int size, float[] target, int at) {
        for (int i = 0; i < size; i++) {
            target[at + i] = data[from + i];
        }
    }

    /** Each but the last of eight times 16 to the power of its place. */
    private static void nibbles(byte[] data, int from, int size, float[] target, int at) {
        for (int i = 0; i < size; i++) {
            int input = (from + i) / L;
            int lane = (from + i) % L;
            int quant = data[(input / 8 * L + lane) * 4 + input % 8 / 2] >> input % 2 * 4 & 15;
            target[at + i] = input % 8 == 7 ? quant : quant << input % 8 * 4;
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
