package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import java.lang.foreign.Arena;
import java.util.Optional;

/** Encodes a weight for the weight file, on all cores. The same weight gives the same bytes however many there are. */
final class WeightEncoder {

    private WeightEncoder() {}

    /**
     * Encodes a matrix; other shapes are taken as one column for each element of the first axis, or as a single row.
     *
     * <p>A group that does not divide the rows (palettes) or inputs (int4) is made smaller; where that leaves blocks too small
     * to be worth their scales, the result is int8.
     *
     * @param tableType fp32 or fp16, of scales and palettes
     * @param arena owns the result
     * @throws TorchAneException when a value is not finite, or too large for fp16
     */
    static EncodedWeight encode(WeightRows source, WeightEncoding encoding, DType tableType, Arena arena) {
        return switch (encoding) {
            case FP32 -> floats(source, encoding, DType.FP32, arena);
            case FP16 -> floats(source, encoding, DType.FP16, arena);
            case INT8, STORED -> ScaledIntegers.perRow(source, tableType, arena);
            case INT4 -> {
                int block = ScaledIntegers.block(source.columns(), encoding.group());
                yield block == 0
                        ? ScaledIntegers.perRow(source, tableType, arena)
                        : ScaledIntegers.perBlock(source, block, tableType, arena);
            }
            case LUT4, LUT4G32, LUT6 -> Palettes.encode(source, encoding, tableType, arena);
        };
    }

    private static EncodedWeight floats(WeightRows source, WeightEncoding encoding, DType type, Arena arena) {
        StoredFloats data = StoredFloats.allocate(type, source.elements(), arena);
        EncodingError error = EncodingError.ofParts(source.rows(), row -> {
            float[] values = source.row(row);
            long at = (long) row * values.length;
            EncodingError.Sum sum = new EncodingError.Sum();
            for (int i = 0; i < values.length; i++) {
                float stored = data.set(at + i, values[i]);
                if (Float.isInfinite(stored)) {
                    throw StoredFloats.beyondHalf(source.name(), values[i], row);
                }
                sum.add((double) values[i] - stored);
            }
            return sum.error();
        });
        return new EncodedWeight(encoding, type, data.data(), Optional.empty(), error);
    }
}
