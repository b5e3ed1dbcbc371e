package dev.torchane.engine.jvm;

import java.util.Random;
import java.util.function.IntFunction;

/** The forms of weights that the kernels of linear layers read. */
public enum WeightForm {
    /** fp32. */
    FP32(32),
    /** fp16. */
    FP16(16),
    /** int8, a factor for each output. */
    INT8(8),
    /** Blocks of 32 int8 with a factor in fp16: GGUF's Q8_0. */
    Q8_0(8.5),
    /** Blocks of 32 with 4 bits, a factor and a minimum in fp16: GGUF's Q4_1. */
    Q4_1(5),
    /** Blocks of 32 with 4 bits and a factor in fp16: GGUF's Q4_0. */
    Q4_0(4.5),
    /** int4, blocks of 32 with a factor in fp32. */
    INT4(5),
    /** Palettes of 16 values. */
    LUT4(4);

    private static final int BLOCK = 32;

    private final double bits;

    WeightForm(double bits) {
        this.bits = bits;
    }

    /** Bits that are read for one weight. */
    double bits() {
        return bits;
    }

    /** Random weights in this form. */
    Panels random(int outputs, int inputs, int seed) {
        Random random = new Random(seed);
        int size = Panels.length(outputs, inputs);
        int packed = Panels.packedLength(outputs, inputs);
        int factors = Lanes.roundUp(outputs) * inputs / BLOCK;
        IntFunction<byte[]> bytes = count -> {
            byte[] made = new byte[count];
            random.nextBytes(made);
            return made;
        };
        return switch (this) {
            case FP32 -> new Panels.F32(outputs, inputs, numbers(size, seed));
            case FP16 -> new Panels.F16(outputs, inputs, halves(size, seed));
            case INT8 -> new Panels.I8(outputs, inputs, bytes.apply(size), numbers(outputs, seed));
            case Q8_0 -> new Panels.Blocks(outputs, inputs, false, bytes.apply(size), halves(inputs, factors, 0, seed));
            case Q4_1 ->
                new Panels.Blocks(
                        outputs,
                        inputs,
                        true,
                        bytes.apply(packed),
                        new BlockFactors.Halves(
                                BLOCK, inputs / BLOCK, 0, halves(factors, seed), halves(factors, seed + 1)));
            case Q4_0 ->
                new Panels.Blocks(outputs, inputs, true, bytes.apply(packed), halves(inputs, factors, 8, seed));
            case INT4 ->
                new Panels.Blocks(
                        outputs,
                        inputs,
                        true,
                        bytes.apply(packed),
                        new BlockFactors.Floats(BLOCK, inputs / BLOCK, 8, numbers(factors, seed)));
            case LUT4 ->
                new Panels.Palette(
                        outputs,
                        inputs,
                        bytes.apply(packed),
                        numbers(Lanes.roundUp(outputs) / Panels.Palette.SPAN * Panels.Palette.ENTRIES, seed));
        };
    }

    private static BlockFactors halves(int inputs, int factors, int zero, int seed) {
        return new BlockFactors.Halves(BLOCK, inputs / BLOCK, zero, halves(factors, seed), new short[0]);
    }

    static float[] numbers(int count, int seed) {
        Random random = new Random(seed);
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian() / 16;
        }
        return numbers;
    }

    static short[] halves(int count, int seed) {
        float[] numbers = numbers(count, seed);
        short[] halves = new short[count];
        for (int i = 0; i < count; i++) {
            halves[i] = Float.floatToFloat16(numbers[i]);
        }
        return halves;
    }
}
