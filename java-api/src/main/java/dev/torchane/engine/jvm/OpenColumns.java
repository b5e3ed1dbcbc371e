package dev.torchane.engine.jvm;

/**
 * Lists, for each row of a mask, how many columns are open, whether something is added to one of them (1 or 0), and which are
 * open: {@code [rows][2 + width]}; then the largest of those numbers, and whether the columns of each row are the first ones
 * of the next row's.
 */
record OpenColumns(Operand mask, int table, int rows, int width) implements Step {

    /** Scores below this are closed: the mask of a program is 0 or −40000. */
    private static final float CLOSED = -30000f;

    /** From one row to the next. */
    static int stride(int width) {
        return width + 2;
    }

    /** Place of a row's number of columns. */
    static int count(int row, int width) {
        return row * stride(width);
    }

    /** Place of a row's first column. */
    static int list(int row, int width) {
        return row * stride(width) + 2;
    }

    /** Whether the mask adds something to an open column of a row. */
    static boolean adds(int[] open, int row, int width) {
        return open[row * stride(width) + 1] != 0;
    }

    /** The largest number of columns of a row. */
    static int most(int[] open, int rows, int width) {
        return open[rows * stride(width)];
    }

    /** Whether nothing is added, and the columns of each row are the first ones of the next row's, without a gap. */
    static boolean areNested(int[] open, int rows, int width) {
        return open[rows * stride(width) + 1] != 0;
    }

    @Override
    public void run(Call call) {
        int[] open = call.table(table, rows * stride(width) + 2);
        float[] values = mask.array(call);
        int most = 0;
        boolean nested = true;
        for (int row = 0; row < rows; row++) {
            int list = list(row, width);
            int from = mask.offset() + row * width;
            int count = open(values, from, width, open, list);
            if (count == 0) {
                // A row that sees nothing has a softmax over all its columns, as the operations say.
                for (int c = 0; c < width; c++) {
                    open[list + c] = c;
                }
                count = width;
            }
            boolean adds = adds(values, from, open, list, count);
            open[list - 2] = count;
            open[list - 1] = adds ? 1 : 0;
            nested &= !adds
                    && count >= most
                    && open[list] == open[list(0, width)]
                    && open[list + count - 1] - open[list] == count - 1;
            most = Math.max(most, count);
        }
        open[rows * stride(width)] = most;
        open[rows * stride(width) + 1] = nested ? 1 : 0;
    }

    private static boolean adds(float[] mask, int from, int[] columns, int at, int count) {
        for (int i = 0; i < count; i++) {
            if (mask[from + columns[at + i]] != 0) {
                return true;
            }
        }
        return false;
    }

    private static int open(float[] mask, int from, int width, int[] columns, int to) {
        int count = 0;
        for (int c = 0; c < width; c++) {
            if (mask[from + c] > CLOSED) {
                columns[to + count++] = c;
            }
        }
        return count;
    }
}
