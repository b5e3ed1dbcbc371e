package dev.torchane.weights;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Stored values to fp32: ggml's reference formulas, each product and sum rounded on its own. */
final class Dequantizer {

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfFloat LE_FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble LE_DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort LE_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt LE_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LE_LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Adding it changes no value, not even the sign of a zero. */
    private static final float NO_MINIMUM = -0f;

    private Dequantizer() {}

    /** Reads {@code elements} values of whole blocks and writes them as native fp32. */
    static void dequantize(WeightType type, MemorySegment source, long elements, MemorySegment target) {
        switch (type) {
            case F64 -> doubles(source, elements, target);
            case F32 -> floats(source, elements, target);
            case F16 -> halves(source, elements, target);
            case BF16 -> bfloats(source, elements, target);
            case I64, I32, I16, I8, U8, BOOL -> integers(type, source, elements, target);
            case Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 -> blocks(type, source, elements, target);
            case Q2_K, Q3_K, Q4_K, Q5_K, Q6_K -> KQuants.dequantize(type, source, elements, target);
        }
    }

    static void add(MemorySegment values, long elements, float addend) {
        for (long i = 0; i < elements; i++) {
            values.setAtIndex(FLOAT, i, values.getAtIndex(FLOAT, i) + addend);
        }
    }

    static float half(MemorySegment source, long offset) {
        return Float.float16ToFloat(source.get(LE_SHORT, offset));
    }

    private static void doubles(MemorySegment source, long elements, MemorySegment target) {
        for (long i = 0; i < elements; i++) {
            target.setAtIndex(FLOAT, i, (float) source.getAtIndex(LE_DOUBLE, i));
        }
    }

    private static void floats(MemorySegment source, long elements, MemorySegment target) {
        MemorySegment.copy(source, LE_FLOAT, 0, target, FLOAT, 0, elements);
    }

    private static void halves(MemorySegment source, long elements, MemorySegment target) {
        for (long i = 0; i < elements; i++) {
            target.setAtIndex(FLOAT, i, Float.float16ToFloat(source.getAtIndex(LE_SHORT, i)));
        }
    }

    private static void bfloats(MemorySegment source, long elements, MemorySegment target) {
        for (long i = 0; i < elements; i++) {
            target.setAtIndex(FLOAT, i, Float.intBitsToFloat(source.getAtIndex(LE_SHORT, i) << 16));
        }
    }

    private static void integers(WeightType type, MemorySegment source, long elements, MemorySegment target) {
        for (long i = 0; i < elements; i++) {
            float value = switch (type) {
                case I64 -> source.getAtIndex(LE_LONG, i);
                case I32 -> source.getAtIndex(LE_INT, i);
                case I16 -> source.getAtIndex(LE_SHORT, i);
                case I8 -> source.getAtIndex(JAVA_BYTE, i);
                case U8 -> source.getAtIndex(JAVA_BYTE, i) & 0xFF;
                default -> source.getAtIndex(JAVA_BYTE, i) != 0 ? 1 : 0;
            };
            target.setAtIndex(FLOAT, i, value);
        }
    }

    /** Blocks of 32: a scale, in some types a minimum and fifth bits, then nibbles or bytes. */
    private static void blocks(WeightType type, MemorySegment source, long elements, MemorySegment target) {
        long count = elements / 32;
        for (long block = 0; block < count; block++) {
            long in = block * type.blockBytes();
            long out = block * 32;
            float scale = half(source, in);
            switch (type) {
                case Q4_0 -> nibbles(source, in + 2, 0, 0, 8, scale, NO_MINIMUM, target, out);
                case Q4_1 -> nibbles(source, in + 4, 0, 0, 0, scale, half(source, in + 2), target, out);
                case Q5_0 ->
                    nibbles(source, in + 6, source.get(LE_INT, in + 2), 16, 16, scale, NO_MINIMUM, target, out);
                case Q5_1 ->
                    nibbles(
                            source,
                            in + 8,
                            source.get(LE_INT, in + 4),
                            16,
                            0,
                            scale,
                            half(source, in + 2),
                            target,
                            out);
                default -> {
                    for (int i = 0; i < 32; i++) {
                        target.setAtIndex(FLOAT, out + i, source.get(JAVA_BYTE, in + 2 + i) * scale);
                    }
                }
            }
        }
    }

    /** 32 values of 4 bits (low nibbles first, then high ones), or 5 with the bits of {@code fifth}. */
    private static void nibbles(
            MemorySegment source,
            long in,
            int fifth,
            int fifthValue,
            int zero,
            float scale,
            float minimum,
            MemorySegment target,
            long out) {
        for (int i = 0; i < 16; i++) {
            int pair = source.get(JAVA_BYTE, in + i);
            int low = (pair & 0x0F) + (fifth >>> i & 1) * fifthValue - zero;
            int high = (pair >> 4 & 0x0F) + (fifth >>> i + 16 & 1) * fifthValue - zero;
            target.setAtIndex(FLOAT, out + i, low * scale + minimum);
            target.setAtIndex(FLOAT, out + 16 + i, high * scale + minimum);
        }
    }
}
