package dev.torchane.weights;

/**
 * Where a matrix's rows lie in its file. A llama GGUF keeps the rows of each head of the query and key projections in
 * pairs (first half, second half) for rotation of neighbours; Hugging Face models rotate halves.
 *
 * @param headRows rows of a head when they are paired, 0 when the file's order is the model's
 */
record RowOrder(long headRows) {

    static final RowOrder FILE = new RowOrder(0);

    boolean isFileOrder() {
        return headRows == 0;
    }

    /** The file's row that holds the model's row. */
    long fileRow(long row) {
        if (headRows == 0) {
            return row;
        }
        long within = row % headRows;
        long half = headRows / 2;
        return row - within + within % half * 2 + within / half;
    }
}
