package dev.torchane.engine.jvm;

/** How the kernels of linear layers divide their scratch memory. */
final class LinearScratch {

    /** Inputs that are widened at a time, so that a group of panels of them stays in the first-level cache. */
    static final int CHUNK = 128;

    /** Panels that are widened together. */
    static final int GROUP = 3;

    /** Rows that share one tile at most. */
    static final int ROWS = 8;

    /** Where four vectors of sums stand. */
    static final int SUMS = Lanes.COUNT;

    /** Where four vectors of the products of one block stand. */
    static final int PRODUCTS = 5 * Lanes.COUNT;

    /** Where a panel's factors stand when weights have none: ones. */
    static final int ONES = 9 * Lanes.COUNT;

    /** Where the tables of up to four panels begin. */
    static final int TABLES = 10 * Lanes.COUNT;

    private static final int PANELS = 4;

    private LinearScratch() {}

    /** Inputs that are widened at a time: whole blocks. */
    static int chunk(Panels w) {
        return CHUNK - CHUNK % w.block();
    }

    /** Where widened weights begin. */
    static int wide(Panels w) {
        return TABLES + PANELS * w.tableSize();
    }

    /** Where the sums of all rows over a group of panels begin. */
    static int tiles(Panels w) {
        return wide(w) + GROUP * CHUNK * Lanes.COUNT;
    }

    static int size(Panels w, int rows) {
        return tiles(w) + GROUP * Lanes.COUNT * (rows + ROWS);
    }
}
