package dev.torchane.host;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Palettes: each group of rows has a table of values, and each of its weights is the index of one of them. */
final class Palettes {

    private Palettes() {}

    static EncodedWeight encode(WeightRows source, WeightEncoding encoding, DType tableType, Arena arena) {
        int group = group(source.rows(), encoding.group());
        int groups = source.rows() / Math.max(1, group);
        int entries = 1 << encoding.bits();
        StoredFloats palettes = StoredFloats.allocate(tableType, (long) groups * entries, arena);
        MemorySegment indices = Packed.allocate(source.elements(), arena);
        EncodingError error = EncodingError.ofParts(groups, g -> {
            float[] values = source.rows(g * group, group);
            float[] palette = PaletteFit.fit(values, entries);
            for (int entry = 0; entry < entries; entry++) {
                float stored = palettes.set((long) g * entries + entry, palette[entry]);
                if (Float.isInfinite(stored)) {
                    throw StoredFloats.beyondHalf(source.name(), palette[entry], g * group);
                }
                palette[entry] = stored;
            }
            return assign(values, palette, indices, (long) g * group * source.columns());
        });
        EncodedWeight.Table table = new EncodedWeight.Table(palettes.data(), groups, 1, entries);
        DType type = encoding.bits() == DType.UINT4.bits() ? DType.UINT4 : DType.UINT6;
        return new EncodedWeight(
                encoding, type, Packed.pack(indices, encoding.bits(), arena), Optional.of(table), error);
    }

    /** The largest number of rows up to {@code largest} that divides them: MIL's groups are all of one size. */
    static int group(int rows, int largest) {
        int group = Math.min(largest, rows);
        while (group > 1 && rows % group != 0) {
            group--;
        }
        return group;
    }

    private static EncodingError assign(float[] values, float[] palette, MemorySegment indices, long at) {
        EncodingError.Sum sum = new EncodingError.Sum();
        for (int i = 0; i < values.length; i++) {
            int entry = PaletteFit.nearest(palette, values[i]);
            indices.set(JAVA_BYTE, at + i, (byte) entry);
            sum.add((double) values[i] - palette[entry]);
        }
        return sum.error();
    }
}
