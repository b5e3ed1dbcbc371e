package dev.torchane.engine.jvm;

/**
 * One part of attention, as the kernels are asked for it: queries of some rows and heads that share keys, over up to
 * {@link #COLUMNS} columns. Each worker of a call has one and fills it again for every part.
 *
 * <p>Parts begin at every {@link #COLUMNS}-th open column of a row, whatever is computed together with it, so that a result does
 * not depend on how the work was divided.
 */
final class AttentionPart {

    /** Open columns of a part; the last part of a row may have fewer. */
    static final int COLUMNS = 256;

    /** From the scores of one query to those of the next: vectors may be written beyond the last. */
    static final int SCORES = COLUMNS + Lanes.COUNT;

    /** Columns whose keys or values are taken together for all queries. */
    static final int TILE = 64;

    /** Dimensions of a tile that lie together: an index that is a constant is not checked for each column. */
    static final int PLANE = 64;

    /** The query of row r and head h starts at {@code qOffset + r * rowStride + h * headStride}. */
    float[] q;

    int qOffset;
    int rows;
    int rowStride;
    int heads;
    int headStride;
    float scale;

    /**
     * {@code float[]}, fp16 {@code short[]}, or {@code byte[]} with {@link QuantizedRows}; column c starts at
     * {@code keyOffset + c * stride(keys, dim)}.
     */
    Object keys;

    int keyOffset;
    Object values;
    int valueOffset;

    /** Added to the score of column c: {@code mask[maskOffset + c]}; null adds nothing. With a mask there is one row only. */
    float[] mask;

    int maskOffset;

    /** The open columns of the last row, ascending, from {@code columnsOffset} on; those of other rows are its first ones. */
    int[] columns;

    int columnsOffset;

    /** Open columns of row r in all parts together: {@code columns[countsOffset + r * countsStride]}. */
    int countsOffset;

    int countsStride;

    /** The first open column of this part. */
    int from;

    int dim;

    /**
     * Query i, row by row, leaves at {@code outOffset + i * stride(dim)}: {@code dim} sums of exp(score − max) · value, the sum
     * of exp(score − max), and max. Nothing is written for rows that have no column here.
     */
    float[] out;

    int outOffset;

    /** From what one query leaves to what the next one does. */
    static int stride(int dim) {
        return Lanes.roundUp(dim + 2);
    }

    /** Elements from one column to the next. */
    static int stride(Object memory, int dim) {
        return memory instanceof byte[] ? QuantizedRows.stride(dim) : dim;
    }

    int queries() {
        return rows * heads;
    }

    /** Where a query starts. */
    int query(int index) {
        return qOffset + index / heads * rowStride + index % heads * headStride;
    }

    /** Columns that a query has in this part; may be less than one. */
    int count(int index) {
        return Math.min(COLUMNS, columns[countsOffset + index / heads * countsStride] - from);
    }

    /** Columns that the last row has in this part. */
    int most() {
        return count(queries() - 1);
    }

    /** Column {@code index} of this part. */
    int column(int index) {
        return columns[columnsOffset + from + index];
    }

    /** Whether some columns of this part lie one behind the other. */
    boolean consecutive(int first, int count) {
        return column(first + count - 1) - column(first) == count - 1;
    }

    // Scratch memory: scaled queries, scores, partial sums, a tile of columns in fp32, the factors of its columns.

    int scores() {
        return queries() * Lanes.roundUp(dim);
    }

    int sums() {
        return scores() + queries() * SCORES;
    }

    int tile() {
        return sums() + Lanes.COUNT;
    }

    int factors() {
        return tile() + TILE * Math.ceilDiv(dim, PLANE) * PLANE;
    }

    int scratch() {
        return factors() + TILE;
    }

    /**
     * Adds what the queries left of this part to what they left of those before. Joining parts in their order is a part of
     * the result: every way of dividing the work does so.
     */
    void join(float[] memory, int left, int into) {
        for (int i = 0; i < queries(); i++) {
            if (count(i) > 0) {
                join(memory, left + i * stride(dim), into + i * stride(dim), dim);
            }
        }
    }

    private static void join(float[] memory, int from, int to, int dim) {
        float max = memory[to + dim + 1];
        float other = memory[from + dim + 1];
        if (other <= max) {
            float factor = Maths.exp(other - max);
            for (int d = 0; d <= dim; d++) {
                memory[to + d] += memory[from + d] * factor;
            }
        } else {
            float factor = Maths.exp(max - other);
            for (int d = 0; d <= dim; d++) {
                memory[to + d] = memory[to + d] * factor + memory[from + d];
            }
            memory[to + dim + 1] = other;
        }
    }

    /** Writes the result of a query whose parts are joined. */
    static void finish(float[] joined, int from, float[] out, int to, int dim) {
        float inverse = 1f / joined[from + dim];
        for (int d = 0; d < dim; d++) {
            out[to + d] = joined[from + d] * inverse;
        }
    }
}
