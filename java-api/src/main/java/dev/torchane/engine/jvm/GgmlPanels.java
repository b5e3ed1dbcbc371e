package dev.torchane.engine.jvm;

import dev.torchane.weights.WeightType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Blocks of a GGUF file as panels. Quants keep their numbers, only their order changes; scales stay as wide as they are. Formats
 * of up to 4 bits have nibbles, the others bytes. The values are those of ggml's reference formulas.
 */
final class GgmlPanels {

    private static final int L = Lanes.COUNT;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final WeightType kind;
    private final int outputs;
    private final int inputs;
    private final boolean nibbles;
    /** Inputs that share a factor, and how many of these there are in a row. */
    private final int block;

    private final int blocks;
    private final boolean nested;
    private final boolean minima;
    private final byte[] quants;
    private final short[] factors;
    private final short[] shifts;
    private final byte[] scales;
    private final byte[] minimumScales;
    private final byte[] values;
    private final byte[] row;

    private GgmlPanels(WeightType kind, int outputs, int inputs) {
        this.kind = kind;
        this.outputs = outputs;
        this.inputs = inputs;
        nested = kind.blockElements() > 32;
        nibbles = switch (kind) {
            case Q4_0, Q4_1, Q2_K, Q3_K, Q4_K -> true;
            default -> false;
        };
        block = switch (kind) {
            case Q2_K, Q3_K, Q6_K -> 16;
            default -> 32;
        };
        minima = switch (kind) {
            case Q4_1, Q5_1, Q2_K, Q4_K, Q5_K -> true;
            default -> false;
        };
        blocks = inputs / block;
        int lanes = Lanes.roundUp(outputs);
        int outer = lanes * (inputs / kind.blockElements());
        quants = new byte[nibbles ? Panels.packedLength(outputs, inputs) : Panels.length(outputs, inputs)];
        factors = new short[outer];
        shifts = new short[minima ? outer : 0];
        scales = new byte[nested ? lanes * blocks : 0];
        minimumScales = new byte[nested && minima ? lanes * blocks : 0];
        values = new byte[L * inputs];
        row = new byte[Math.toIntExact((long) inputs / kind.blockElements() * kind.blockBytes())];
    }

    /** Panels of a matrix {@code [outputs, inputs]} of whole blocks. */
    static Panels pack(WeightType kind, MemorySegment data, int outputs, int inputs) {
        GgmlPanels panels = new GgmlPanels(kind, outputs, inputs);
        for (int panel = 0; panel < Math.ceilDiv(outputs, L); panel++) {
            panels.pack(data, panel);
        }
        return new Panels.Blocks(outputs, inputs, panels.nibbles, panels.quants, panels.factors());
    }

    private BlockFactors factors() {
        float zero = switch (kind) {
            case Q4_0 -> 8;
            case Q3_K -> 4;
            default -> 0;
        };
        if (nested) {
            int ratio = kind.blockElements() / block;
            return new BlockFactors.Nested(block, blocks, zero, ratio, factors, scales, shifts, minimumScales);
        }
        return new BlockFactors.Halves(block, blocks, zero, factors, shifts);
    }

    private void pack(MemorySegment data, int panel) {
        int lanes = Math.min(L, outputs - panel * L);
        if (kind == WeightType.Q4_0 || kind == WeightType.Q4_1) {
            for (int lane = 0; lane < lanes; lane++) {
                fours(data, panel, lane);
            }
            return;
        }
        java.util.Arrays.fill(values, lanes * inputs, values.length, (byte) 0);
        for (int lane = 0; lane < lanes; lane++) {
            long from = (long) (panel * L + lane) * row.length;
            MemorySegment.copy(data, ValueLayout.JAVA_BYTE, from, row, 0, row.length);
            for (int i = 0; i < inputs / kind.blockElements(); i++) {
                int outer = (panel * (inputs / kind.blockElements()) + i) * L + lane;
                unpack(i * kind.blockBytes(), outer, panel, lane, i);
            }
        }
        if (nibbles) {
            interleaveGroups(panel * (inputs / 2) * L);
        } else {
            interleave(panel * inputs * L);
        }
    }

    /**
     * A row of Q4_0 or Q4_1, whose nibbles need no detour through bytes: of eight bytes, the low ones are a group and the high ones
     * another.
     */
    private void fours(MemorySegment data, int panel, int lane) {
        MemorySegment.copy(data, ValueLayout.JAVA_BYTE, (long) (panel * L + lane) * row.length, row, 0, row.length);
        int size = kind.blockBytes();
        for (int i = 0; i < blocks; i++) {
            int in = i * size;
            int outer = (panel * blocks + i) * L + lane;
            factors[outer] = half(in);
            if (minima) {
                shifts[outer] = half(in + 2);
            }
            long first = (long) LONGS.get(row, in + size - 16);
            long second = (long) LONGS.get(row, in + size - 8);
            int to = (panel * (inputs / 8) + i * 4) * L * 4 + lane * 4;
            INTS.set(quants, to, group(first));
            INTS.set(quants, to + 4 * L, group(second));
            INTS.set(quants, to + 8 * L, group(first >>> 4));
            INTS.set(quants, to + 12 * L, group(second >>> 4));
        }
    }

    /** The low nibbles of eight bytes, the first byte's lowest. */
    private static int group(long bytes) {
        long nibbles = bytes & 0x0f0f0f0f0f0f0f0fL;
        long pairs = (nibbles | nibbles >>> 4) & 0x00ff00ff00ff00ffL;
        long fours = (pairs | pairs >>> 8) & 0x0000ffff0000ffffL;
        return (int) (fours | fours >>> 16);
    }

    private void interleaveGroups(int to) {
        for (int lane = 0; lane < L; lane++) {
            int from = lane * inputs;
            for (int k = 0; k < inputs; k += 2) {
                quants[to + (k / 8 * L + lane) * 4 + k % 8 / 2] = (byte) (values[from + k] | values[from + k + 1] << 4);
            }
        }
    }

    private void interleave(int to) {
        for (int lane = 0; lane < L; lane++) {
            int from = lane * inputs;
            for (int k = 0; k < inputs; k++) {
                quants[to + k * L + lane] = values[from + k];
            }
        }
    }

    /** Takes block {@code index} of a row, which begins at byte {@code in}: quants, factors, shifts. */
    private void unpack(int in, int outer, int panel, int lane, int index) {
        int to = lane * inputs + index * kind.blockElements();
        switch (kind) {
            case Q5_0 -> five(in, outer, in + 2, -16, to);
            case Q5_1 -> {
                shifts[outer] = half(in + 2);
                five(in, outer, in + 4, 0, to);
            }
            case Q8_0 -> {
                factors[outer] = half(in);
                System.arraycopy(row, in + 2, values, to, 32);
            }
            case Q2_K, Q3_K, Q4_K, Q5_K, Q6_K -> {
                int inner = (panel * blocks + index * (256 / block)) * L + lane;
                switch (kind) {
                    case Q2_K -> q2(in, outer, inner, to);
                    case Q3_K -> q3(in, outer, inner, to);
                    case Q6_K -> q6(in, outer, inner, to);
                    default -> q4(in, outer, inner, to);
                }
            }
            default -> throw new IllegalArgumentException(kind + " has no blocks");
        }
    }

    private void four(int in, int outer, int pairs, int to) {
        factors[outer] = half(in);
        for (int i = 0; i < 16; i++) {
            values[to + i] = (byte) (row[pairs + i] & 15);
            values[to + 16 + i] = (byte) (row[pairs + i] >> 4 & 15);
        }
    }

    private void five(int in, int outer, int high, int zero, int to) {
        four(in, outer, high + 4, to);
        for (int i = 0; i < 32; i++) {
            values[to + i] += (byte) ((row[high + i / 8] >> i % 8 & 1) * 16 + zero);
        }
    }

    private void q2(int in, int outer, int inner, int to) {
        factors[outer] = half(in + 80);
        shifts[outer] = half(in + 82);
        for (int i = 0; i < 16; i++) {
            scales[inner + i * L] = (byte) (row[in + i] & 15);
            minimumScales[inner + i * L] = (byte) (row[in + i] >> 4 & 15);
        }
        pairsOfBits(in + 16, to);
    }

    private void pairsOfBits(int in, int to) {
        for (int i = 0; i < 256; i++) {
            values[to + i] = (byte) (row[in + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3);
        }
    }

    private void q3(int in, int outer, int inner, int to) {
        factors[outer] = half(in + 108);
        for (int i = 0; i < 16; i++) {
            int low = row[in + 96 + i % 8] >> i / 8 * 4 & 15;
            int high = row[in + 104 + i % 4] >> i / 4 * 2 & 3;
            scales[inner + i * L] = (byte) ((low | high << 4) - 32);
        }
        pairsOfBits(in + 32, to);
        for (int i = 0; i < 256; i++) {
            values[to + i] += (byte) ((row[in + i % 32] >> i / 32 & 1) * 4);
        }
    }

    private void q4(int in, int outer, int inner, int to) {
        factors[outer] = half(in);
        shifts[outer] = half(in + 2);
        int six = in + 4;
        for (int i = 0; i < 4; i++) {
            scales[inner + i * L] = (byte) (row[six + i] & 63);
            minimumScales[inner + i * L] = (byte) (row[six + 4 + i] & 63);
            int last = row[six + 8 + i];
            scales[inner + (4 + i) * L] = (byte) (last & 15 | (row[six + i] >> 6 & 3) << 4);
            minimumScales[inner + (4 + i) * L] = (byte) (last >> 4 & 15 | (row[six + 4 + i] >> 6 & 3) << 4);
        }
        boolean fifth = kind == WeightType.Q5_K;
        int pairs = in + (fifth ? 48 : 16);
        for (int i = 0; i < 256; i++) {
            int quant = row[pairs + i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
            int high = fifth ? (row[in + 16 + i % 32] >> i / 32 & 1) * 16 : 0;
            values[to + i] = (byte) (quant + high);
        }
    }

    private void q6(int in, int outer, int inner, int to) {
        factors[outer] = half(in + 208);
        for (int i = 0; i < 16; i++) {
            scales[inner + i * L] = row[in + 192 + i];
        }
        for (int i = 0; i < 256; i++) {
            int quarter = i % 128 / 32;
            int low = row[in + i / 128 * 64 + i % 64] >> quarter / 2 * 4 & 15;
            int high = row[in + 128 + i / 128 * 32 + i % 32] >> quarter * 2 & 3;
            values[to + i] = (byte) ((low | high << 4) - 32);
        }
    }

    private short half(int at) {
        return (short) (row[at] & 0xff | row[at + 1] << 8);
    }
}
