package dev.torchane.weights;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** ggml's k-quants: super-blocks of 256 values, whose sub-blocks have scales that are themselves quantised. */
final class KQuants {

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final int SUPER = 256;

    private KQuants() {}

    static void dequantize(WeightType type, MemorySegment source, long elements, MemorySegment target) {
        long count = elements / SUPER;
        for (long block = 0; block < count; block++) {
            long in = block * type.blockBytes();
            long out = block * SUPER;
            switch (type) {
                case Q2_K -> q2(source, in, target, out);
                case Q3_K -> q3(source, in, target, out);
                case Q4_K -> q4(source, in, target, out);
                case Q5_K -> q5(source, in, target, out);
                case Q6_K -> q6(source, in, target, out);
                default -> throw new IllegalArgumentException(type + " is not a k-quant");
            }
        }
    }

    /** scales[16] (4 bits scale, 4 bits minimum), quants[64] (2 bits), d, dmin. */
    private static void q2(MemorySegment source, long in, MemorySegment target, long out) {
        float d = Dequantizer.half(source, in + 80);
        float minimum = Dequantizer.half(source, in + 82);
        for (int i = 0; i < SUPER; i++) {
            int scale = unsigned(source, in + i / 16);
            int quant = unsigned(source, in + 16 + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3;
            target.setAtIndex(FLOAT, out + i, d * (scale & 15) * quant - minimum * (scale >> 4));
        }
    }

    /** high[32] (a third bit, inverted), quants[64] (2 bits), scales[12] (6 bits, biased by 32), d. */
    private static void q3(MemorySegment source, long in, MemorySegment target, long out) {
        float d = Dequantizer.half(source, in + 108);
        for (int i = 0; i < SUPER; i++) {
            int sub = i / 16;
            int low = unsigned(source, in + 96 + sub % 8) >> sub / 8 * 4 & 15;
            int high = unsigned(source, in + 104 + sub % 4) >> sub / 4 * 2 & 3;
            int scale = (low | high << 4) - 32;
            int quant = unsigned(source, in + 32 + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3;
            int third = unsigned(source, in + i % 32) >> i / 32 & 1;
            target.setAtIndex(FLOAT, out + i, d * scale * (quant - (third == 0 ? 4 : 0)));
        }
    }

    /** d, dmin, scales[12] (6 bits scale, 6 bits minimum), quants[128] (4 bits). */
    private static void q4(MemorySegment source, long in, MemorySegment target, long out) {
        float d = Dequantizer.half(source, in);
        float dmin = Dequantizer.half(source, in + 2);
        for (int sub = 0; sub < 8; sub++) {
            float scale = d * scale(source, in + 4, sub);
            float minimum = dmin * minimum(source, in + 4, sub);
            long quants = in + 16 + sub / 2 * 32;
            int shift = sub % 2 * 4;
            for (int i = 0; i < 32; i++) {
                int quant = unsigned(source, quants + i) >> shift & 15;
                target.setAtIndex(FLOAT, out + sub * 32 + i, scale * quant - minimum);
            }
        }
    }

    /** As {@link #q4}, with fifth bits in high[32] before the quants. */
    private static void q5(MemorySegment source, long in, MemorySegment target, long out) {
        float d = Dequantizer.half(source, in);
        float dmin = Dequantizer.half(source, in + 2);
        for (int sub = 0; sub < 8; sub++) {
            float scale = d * scale(source, in + 4, sub);
            float minimum = dmin * minimum(source, in + 4, sub);
            long quants = in + 48 + sub / 2 * 32;
            int shift = sub % 2 * 4;
            for (int i = 0; i < 32; i++) {
                int fifth = unsigned(source, in + 16 + i) >> sub & 1;
                int quant = (unsigned(source, quants + i) >> shift & 15) + fifth * 16;
                target.setAtIndex(FLOAT, out + sub * 32 + i, scale * quant - minimum);
            }
        }
    }

    /** low[128] (4 bits), high[64] (2 bits), scales[16] (int8), d. */
    private static void q6(MemorySegment source, long in, MemorySegment target, long out) {
        float d = Dequantizer.half(source, in + 208);
        for (int i = 0; i < SUPER; i++) {
            int half = i / 128;
            int quarter = i % 128 / 32;
            int low = unsigned(source, in + half * 64 + i % 64) >> quarter / 2 * 4 & 15;
            int high = unsigned(source, in + 128 + half * 32 + i % 32) >> quarter * 2 & 3;
            float scale = d * source.get(JAVA_BYTE, in + 192 + i / 16);
            target.setAtIndex(FLOAT, out + i, scale * ((low | high << 4) - 32));
        }
    }

    /** Scale of a sub-block: 8 scales and 8 minima of 6 bits in 12 bytes. */
    private static int scale(MemorySegment source, long scales, int sub) {
        if (sub < 4) {
            return unsigned(source, scales + sub) & 63;
        }
        return unsigned(source, scales + sub + 4) & 15 | unsigned(source, scales + sub - 4) >> 6 << 4;
    }

    private static int minimum(MemorySegment source, long scales, int sub) {
        if (sub < 4) {
            return unsigned(source, scales + sub + 4) & 63;
        }
        return unsigned(source, scales + sub + 4) >> 4 | unsigned(source, scales + sub) >> 6 << 4;
    }

    private static int unsigned(MemorySegment source, long offset) {
        return source.get(JAVA_BYTE, offset) & 0xFF;
    }
}
