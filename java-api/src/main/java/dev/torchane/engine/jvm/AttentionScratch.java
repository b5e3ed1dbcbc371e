package dev.torchane.engine.jvm;

/**
 * How attention divides its scratch memory: scores of each query, scaled queries, partial sums, mixes of values, and a tile of
 * columns in fp32.
 */
final class AttentionScratch {

    /** Columns whose keys or values are taken together for all queries. */
    static final int TILE = 64;

    private AttentionScratch() {}

    /** From the scores of one query to those of the next. */
    static int stride(int count) {
        return Lanes.roundUp(count) + Lanes.COUNT;
    }

    /** Where the queries begin. */
    static int queries(int queries, int count) {
        return queries * stride(count);
    }

    static int size(int queries, int count, int dim) {
        return queries(queries, count) + 2 * queries * Lanes.roundUp(dim) + Lanes.COUNT + TILE * Lanes.roundUp(dim);
    }
}
