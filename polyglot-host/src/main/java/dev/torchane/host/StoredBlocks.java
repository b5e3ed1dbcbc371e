package dev.torchane.host;

import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import dev.torchane.weights.Checkpoint;
import dev.torchane.weights.WeightTensor;
import dev.torchane.weights.WeightType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.stream.IntStream;

/** The blocks behind weights that come back from Python as the checkpoint's own values. */
interface StoredBlocks {

    /**
     * The blocks of a weight, in the order of its rows; empty when the checkpoint has none for it, or when a value differs.
     *
     * @param arena owns the result
     */
    Optional<EncodedWeight> find(WeightRows weight, Arena arena);

    /** There are none. */
    StoredBlocks NONE = (weight, arena) -> Optional.empty();

    /** Those of a GGUF file. */
    static StoredBlocks of(Checkpoint checkpoint) {
        return (weight, arena) -> Optional.ofNullable(checkpoint.tensors().get(weight.name()))
                .filter(tensor -> tensor.type().isBlocked()
                        && tensor.rows() == weight.rows()
                        && tensor.columns() == weight.columns())
                .filter(tensor ->
                        IntStream.range(0, weight.rows()).parallel().allMatch(row -> same(tensor, weight, row)))
                .map(tensor -> blocks(tensor, 0, weight.rows(), arena));
    }

    private static boolean same(WeightTensor tensor, WeightRows weight, int row) {
        float[] stored = new float[weight.columns()];
        tensor.dequantize(row, 1, MemorySegment.ofArray(stored));
        float[] given = weight.row(row);
        for (int i = 0; i < stored.length; i++) {
            // -0 is 0: what becomes of a zero's sign on the way does not matter.
            if (stored[i] != given[i]) {
                return false;
            }
        }
        return true;
    }

    /** The blocks of some rows. */
    static EncodedWeight blocks(WeightTensor tensor, int first, int rows, Arena arena) {
        WeightType kind = tensor.type();
        long bytes = tensor.rowBytes();
        MemorySegment data = arena.allocate(rows * bytes, 64);
        for (long row = 0; row < rows; row++) {
            data.asSlice(row * bytes, bytes).copyFrom(tensor.row(first + row));
        }
        return new EncodedWeight(
                WeightEncoding.STORED, DType.UINT8, data, Optional.empty(), Optional.of(kind), new EncodingError(0, 0));
    }
}
