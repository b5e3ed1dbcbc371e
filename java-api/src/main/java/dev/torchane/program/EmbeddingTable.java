package dev.torchane.program;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The token embedding of a bundle: rows are looked up on the CPU, straight from the mapped weight file. */
public final class EmbeddingTable {

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Manifest.Embedding shape;
    private final int vocab;
    private final MemorySegment data;
    private final MemorySegment scales;
    private final boolean narrowScales;

    EmbeddingTable(Manifest manifest, WeightFile weights) {
        shape = manifest.embedding();
        vocab = manifest.model().vocab();
        data = weights.data(shape.data(), TensorType.of(shape.encoding(), shape.rows(), shape.columns()));
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
        switch (shape.encoding()) {
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
