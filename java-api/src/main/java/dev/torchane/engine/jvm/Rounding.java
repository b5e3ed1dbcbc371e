package dev.torchane.engine.jvm;

import dev.torchane.program.DType;

/** Rounding of fp32 numbers to a narrower type, to nearest even, overflow becoming infinity. */
final class Rounding {

    private Rounding() {}

    static void round(DType dtype, float[] values, int offset, int size) {
        for (int i = offset; i < offset + size; i++) {
            values[i] = round(dtype, values[i]);
        }
    }

    static float round(DType dtype, float value) {
        return switch (dtype) {
            case FP16 -> Float.float16ToFloat(Float.floatToFloat16(value));
            case BF16 -> bf16(value);
            default -> value;
        };
    }

    private static float bf16(float value) {
        if (Float.isNaN(value)) {
            return value;
        }
        int bits = Float.floatToRawIntBits(value);
        return Float.intBitsToFloat((bits + 0x7fff + (bits >>> 16 & 1)) & 0xffff_0000);
    }
}
