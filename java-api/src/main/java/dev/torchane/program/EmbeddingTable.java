package dev.torchane.program;

import dev.torchane.weights.WeightType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;

/** The token embedding of a bundle: rows are looked up on the CPU, straight from the mapped weight file. */
public final class EmbeddingTable {

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Manifest.Embedding shape;
    private final int vocab;
    private final MemorySegment data;
    private final Optional<WeightType> blocks;
    private final MemorySegment scales;
    private final boolean narrowScales;

    EmbeddingTable(Manifest manifest, WeightFile weights) {
        shape = manifest.embedding();
        vocab = manifest.model().vocab();
        blocks = WeightType.block(shape.encoding());
        data = weights.data(shape.data(), type());
        if (shape.scale().isPresent()) {
            long offset = shape.scale().getAsLong();
            narrowScales = weights.blob(offset).dtype() == DType.FP16;
            DType dtype = narrowScales ? DType.FP16 : DType.FP32;
            scales = weights.data(offset, TensorType.of(dtype, shape.rows(), 1));
        } else {
            narrowScales = false;
            scales = MemorySegment.NULL;
        }
    }

    private TensorType type() {
        int rows = shape.rows();
        int columns = shape.columns();
        return blocks.map(kind -> TensorType.of(DType.UINT8, Math.toIntExact(kind.bytes((long) rows * columns))))
                .orElseGet(() -> TensorType.of(DType.ofMil(shape.encoding()), rows, columns));
    }

    /** Entries of the vocabulary. */
    public int vocab() {
        return vocab;
    }

    /** Numbers in a row. */
    public int columns() {
        return shape.columns();
    }

    /**
     * Writes the row of a token, multiplier applied.
     *
     * @param row receives {@link #columns()} numbers
     * @throws IllegalArgumentException when the token is not in the vocabulary, or {@code row} is too short
     * @throws IllegalStateException when the bundle is closed
     */
    public void lookup(int id, float[] row) {
        lookup(id, MemorySegment.ofArray(row));
    }

    /** Writes the row of a token as fp32 into memory. */
    public void lookup(int id, MemorySegment row) {
        if (id < 0 || id >= vocab) {
            throw new IllegalArgumentException(
                    "token id " + id + " is not in the vocabulary of " + vocab + " entries (0 to " + (vocab - 1) + ")");
        }
        int columns = shape.columns();
        if (row.byteSize() < 4L * columns) {
            throw new IllegalArgumentException(
                    "a row of the embedding has " + columns + " numbers, found room for " + row.byteSize() / 4);
        }
        long first = (long) id * columns;
        float multiplier = shape.multiplier();
        if (blocks.isPresent()) {
            long bytes = blocks.get().bytes(columns);
            blocks.get().dequantize(data.asSlice(id * bytes, bytes), columns, row);
            for (int i = 0; i < columns && multiplier != 1; i++) {
                row.setAtIndex(F32, i, row.getAtIndex(F32, i) * multiplier);
            }
            return;
        }
        switch (DType.ofMil(shape.encoding())) {
            case FP32 -> {
                for (int i = 0; i < columns; i++) {
                    row.setAtIndex(F32, i, data.getAtIndex(F32, first + i) * multiplier);
                }
            }
            case FP16 -> {
                for (int i = 0; i < columns; i++) {
                    float value = Float.float16ToFloat(data.getAtIndex(F16, first + i));
                    row.setAtIndex(F32, i, value * multiplier);
                }
            }
            default -> {
                float scale =
                        narrowScales ? Float.float16ToFloat(scales.getAtIndex(F16, id)) : scales.getAtIndex(F32, id);
                for (int i = 0; i < columns; i++) {
                    row.setAtIndex(F32, i, data.get(ValueLayout.JAVA_BYTE, first + i) * scale * multiplier);
                }
            }
        }
    }
}
