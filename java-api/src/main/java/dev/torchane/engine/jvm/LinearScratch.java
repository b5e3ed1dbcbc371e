package dev.torchane.engine.jvm;

/** How the kernels of linear layers divide their scratch memory. */
final class LinearScratch {

    /** Inputs that are widened at a time, so that two panels of them stay in the first-level cache. */
    static final int BLOCK = 192;

    /** Rows that share one tile at most. */
    static final int ROWS = 8;

    /** Where four vectors of sums stand. */
    static final int SUMS = Lanes.COUNT;

    /** Where the tables of up to four panels begin. */
    static final int TABLES = 5 * Lanes.COUNT;

    private static final int PANELS = 4;

    private LinearScratch() {}

    /** Where widened weights begin. */
    static int wide(Panels w) {
        return TABLES + PANELS * w.tableSize();
    }

    /** Where the sums of all rows over two panels begin. */
    static int tiles(Panels w) {
        return wide(w) + 2 * BLOCK * Lanes.COUNT;
    }

    static int size(Panels w, int rows) {
        return tiles(w) + 2 * Lanes.COUNT * (rows + ROWS);
    }
}
