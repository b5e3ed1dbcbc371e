package dev.torchane.engine;

/**
 * The rows of a window that a call needs: {@code [start, start + count)} along the row axis that the manifest names for each
 * input.
 *
 * @param start first row
 * @param count rows; {@link Integer#MAX_VALUE} from row 0 means all
 */
public record RowRange(int start, int count) {

    /** Every row. */
    public static final RowRange ALL = new RowRange(0, Integer.MAX_VALUE);

    public RowRange {
        if (start < 0 || count < 1) {
            throw new IllegalArgumentException(
                    "a row range needs start >= 0 and count >= 1, found start " + start + ", count " + count);
        }
    }

    /** Whether this is the whole window. */
    public boolean all() {
        return start == 0 && count == Integer.MAX_VALUE;
    }
}
