package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Matrices of 4 and 8 bits with a scale for each block of inputs, and palettes of 16 values, as panels. */
final class BlockPanels {

    private static final int L = Lanes.COUNT;

    private BlockPanels() {}

    /**
     * A matrix of int4 or int8 with scales {@code [outputs, blocks]}; empty when no kernel takes its blocks.
     *
     * @param scale type of the scales
     * @param scales the scales
     */
    static Optional<Panels> blocks(TensorType type, MemorySegment data, TensorType scale, float[] scales) {
        int outputs = type.axis(0);
        int inputs = Math.toIntExact(type.elements() / Math.max(1, outputs));
        boolean four = type.dtype() == DType.INT4;
        int count = outputs == 0 ? 0 : scales.length / outputs;
        if (!four && type.dtype() != DType.INT8 || type.rank() != 2 || scale.axis(0) != outputs) {
            return Optional.empty();
        }
        int block = kernelBlock(inputs / count, four ? 8 : 1);
        if (block == 0) {
            return Optional.empty();
        }
        // int4 is kept as 0 to 15 with 8 for zero.
        byte[] quants = four ? groups(data, outputs, inputs, 8) : bytes(data, outputs, inputs);
        BlockFactors factors = factors(scales, outputs, count, block, inputs / block, four ? 8 : 0);
        return Optional.of(new Panels.Blocks(outputs, inputs, four, quants, factors));
    }

    /** The most inputs that a kernel may take as a block where {@code block} share a scale; 0 when that is too few. */
    private static int kernelBlock(int block, int multiple) {
        for (int size = Math.min(block, LinearScratch.CHUNK); size >= L; size--) {
            if (block % size == 0 && size % multiple == 0) {
                return size;
            }
        }
        return 0;
    }

    /** A matrix of 4-bit indices with tables {@code [groups of outputs, 1, 16, 1]}; empty when no kernel takes its groups. */
    static Optional<Panels> palette(TensorType type, MemorySegment indices, TensorType table, float[] entries) {
        if (type.dtype() != DType.UINT4 || type.rank() != 2 || table.axis(1) != 1 || table.axis(3) != 1) {
            return Optional.empty();
        }
        int outputs = type.axis(0);
        int inputs = type.axis(1);
        int group = outputs / table.axis(0);
        if (inputs % 2 != 0 || group % Panels.Palette.SPAN != 0 && table.axis(0) > 1) {
            return Optional.empty();
        }
        int spans = Lanes.roundUp(outputs) / Panels.Palette.SPAN;
        float[] tables = new float[spans * Panels.Palette.ENTRIES];
        for (int span = 0; span < spans; span++) {
            int from = Math.min(span * Panels.Palette.SPAN / group, table.axis(0) - 1) * Panels.Palette.ENTRIES;
            System.arraycopy(entries, from, tables, span * Panels.Palette.ENTRIES, Panels.Palette.ENTRIES);
        }
        return Optional.of(new Panels.Palette(outputs, inputs, pairs(indices, outputs, inputs), tables));
    }

    /** Scales {@code [outputs, count]}, each for one or more of {@code blocks} blocks. */
    private static BlockFactors factors(float[] scales, int outputs, int count, int block, int blocks, float zero) {
        float[] ordered = new float[Lanes.roundUp(outputs) * blocks];
        boolean fits = true;
        for (int n = 0; n < outputs; n++) {
            for (int i = 0; i < blocks; i++) {
                float value = scales[n * count + i * count / blocks];
                ordered[(n / L * blocks + i) * L + n % L] = value;
                fits &= Float.float16ToFloat(Float.floatToFloat16(value)) == value;
            }
        }
        if (!fits) {
            return new BlockFactors.Floats(block, blocks, zero, ordered);
        }
        short[] halves = new short[ordered.length];
        for (int i = 0; i < halves.length; i++) {
            halves[i] = Float.floatToFloat16(ordered[i]);
        }
        return new BlockFactors.Halves(block, blocks, zero, halves, new short[0]);
    }

    private static byte[] bytes(MemorySegment from, int outputs, int inputs) {
        byte[] panels = new byte[Panels.length(outputs, inputs)];
        byte[] row = new byte[inputs];
        for (int n = 0; n < outputs; n++) {
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, (long) n * inputs, row, 0, inputs);
            int to = n / L * inputs * L + n % L;
            for (int k = 0; k < inputs; k++) {
                panels[to + k * L] = row[k];
            }
        }
        return panels;
    }

    /** Pairs of nibbles, in the order of palettes. */
    private static byte[] pairs(MemorySegment from, int outputs, int inputs) {
        byte[] panels = new byte[Panels.packedLength(outputs, inputs)];
        byte[] row = new byte[inputs / 2];
        for (int n = 0; n < outputs; n++) {
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, (long) n * row.length, row, 0, row.length);
            int to = n / L * row.length * L + n % L;
            for (int k = 0; k < row.length; k++) {
                panels[to + k * L] = row[k];
            }
        }
        return panels;
    }

    /** Nibbles in the order of blocks, each with {@code zero} added modulo 16. */
    private static byte[] groups(MemorySegment from, int outputs, int inputs, int zero) {
        byte[] panels = new byte[Panels.packedLength(outputs, inputs)];
        byte[] row = new byte[inputs / 2];
        int flip = zero | zero << 4;
        for (int n = 0; n < outputs; n++) {
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, (long) n * row.length, row, 0, row.length);
            int to = n / L * row.length * L + n % L * 4;
            for (int k = 0; k < row.length; k++) {
                panels[to + k / 4 * 4 * L + k % 4] = (byte) (row[k] ^ flip);
            }
        }
        return panels;
    }
}
