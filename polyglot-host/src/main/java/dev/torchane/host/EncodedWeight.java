package dev.torchane.host;

import dev.torchane.build.WeightEncoding;
import dev.torchane.program.DType;
import dev.torchane.weights.WeightType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A matrix in the form in which it is stored.
 *
 * @param encoding what it became; int8 where the encoding that was asked for cannot divide the matrix
 * @param dtype element type of {@code data}
 * @param data rows × columns, densely packed; bytes of blocks where {@code blocks} is present
 * @param table the scales or palettes that {@code data} refers to
 * @param blocks format of the blocks of a GGUF
 * @param error how far the stored values are from the source
 */
record EncodedWeight(
        WeightEncoding encoding,
        DType dtype,
        MemorySegment data,
        Optional<Table> table,
        Optional<WeightType> blocks,
        EncodingError error) {

    EncodedWeight(
            WeightEncoding encoding, DType dtype, MemorySegment data, Optional<Table> table, EncodingError error) {
        this(encoding, dtype, data, table, Optional.empty(), error);
    }

    /**
     * Scales or palettes.
     *
     * @param data one scale or one palette for each block, row by row
     * @param rowBlocks blocks that the rows are divided into, all of one size
     * @param columnBlocks blocks that the columns are divided into, all of one size
     * @param entries values of a block: 1 for a scale
     */
    record Table(MemorySegment data, int rowBlocks, int columnBlocks, int entries) {}
}
