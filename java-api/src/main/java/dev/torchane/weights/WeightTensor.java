package dev.torchane.weights;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One tensor of a checkpoint: a view of mapped bytes, valid until the checkpoint is closed. Values are read as a matrix
 * of {@link #rows()} × {@link #columns()}, the last axis being the columns.
 */
public final class WeightTensor {

    private final String name;
    private final WeightType type;
    private final List<Long> shape;
    private final MemorySegment data;
    private final RowOrder order;
    private final float shift;
    private final long rows;
    private final long columns;

    WeightTensor(String name, WeightType type, List<Long> shape, MemorySegment data, RowOrder order, float shift) {
        this.name = name;
        this.type = type;
        this.shape = List.copyOf(shape);
        this.data = data;
        this.order = order;
        this.shift = shift;
        long elements = elements(shape);
        boolean vector = shape.size() <= 1;
        this.rows = vector ? (order.isFileOrder() ? 1 : elements) : elements(shape.subList(0, shape.size() - 1));
        this.columns = vector ? (order.isFileOrder() ? elements : 1) : shape.getLast();
    }

    /** Name as in the Hugging Face model: {@code model.layers.0.self_attn.q_proj.weight}. */
    public String name() {
        return name;
    }

    /** How the values are stored. */
    public WeightType type() {
        return type;
    }

    /** Sizes of the axes, outermost first; empty for a scalar. */
    public List<Long> shape() {
        return shape;
    }

    /** Number of values. */
    public long elements() {
        return rows * columns;
    }

    /** Rows of the matrix that {@link #dequantize(long, long, MemorySegment)} cuts; a vector is usually one row. */
    public long rows() {
        return rows;
    }

    /** Values in a row. */
    public long columns() {
        return columns;
    }

    /** Stored bytes of a row. */
    public long rowBytes() {
        return type.bytes(columns);
    }

    /**
     * Whether {@link #data()} is the tensor as it stands. False when the file keeps the rows in another order (query and
     * key weights of llama GGUF files) or keeps other values (Gemma's norms, stored plus one).
     */
    public boolean isAsStored() {
        return order.isFileOrder() && shift == 0;
    }

    /** The stored bytes, in the file's own order; not copied. */
    public MemorySegment data() {
        return data;
    }

    /** The stored bytes of one row, in the model's order; not copied. */
    public MemorySegment row(long row) {
        if (row < 0 || row >= rows) {
            throw new IndexOutOfBoundsException("row " + row + " of tensor '" + name + "', which has " + rows);
        }
        return data.asSlice(order.fileRow(row) * rowBytes(), rowBytes());
    }

    /**
     * Writes all values as fp32.
     *
     * @param target at least {@code elements() * 4} bytes
     */
    public void dequantize(MemorySegment target) {
        dequantize(0, rows, target);
    }

    /**
     * Writes some rows as fp32, row after row.
     *
     * @param firstRow first row
     * @param count number of rows
     * @param target at least {@code count * columns() * 4} bytes
     */
    public void dequantize(long firstRow, long count, MemorySegment target) {
        if (firstRow < 0 || count < 0 || firstRow > rows - count) {
            throw new IndexOutOfBoundsException(
                    "rows " + firstRow + " to " + (firstRow + count) + " of tensor '" + name + "', which has " + rows);
        }
        if (target.byteSize() < Math.multiplyExact(count, columns * Float.BYTES)) {
            throw new IllegalArgumentException("target has " + target.byteSize() + " bytes, " + count + " rows of '"
                    + name + "' need " + count * columns * Float.BYTES);
        }
        if (columns == 0 || count == 0) {
            return;
        }
        long rowBytes = rowBytes();
        if (order.isFileOrder()) {
            Dequantizer.dequantize(type, data.asSlice(firstRow * rowBytes, count * rowBytes), count * columns, target);
        } else {
            for (long row = 0; row < count; row++) {
                MemorySegment source = data.asSlice(order.fileRow(firstRow + row) * rowBytes, rowBytes);
                Dequantizer.dequantize(
                        type, source, columns, target.asSlice(row * columns * Float.BYTES, columns * Float.BYTES));
            }
        }
        if (shift != 0) {
            Dequantizer.add(target, count * columns, shift);
        }
    }

    @Override
    public String toString() {
        return name + " " + type.label() + " " + shape;
    }

    private static long elements(List<Long> shape) {
        long product = 1;
        for (long size : shape) {
            product = Math.multiplyExact(product, size);
        }
        return product;
    }
}
