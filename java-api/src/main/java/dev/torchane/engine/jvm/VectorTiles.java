package dev.torchane.engine.jvm;

import jdk.incubator.vector.VectorSpecies;

/**
 * Linear layers of several rows. Some inputs of three panels are widened at a time, into the first-level cache, and all rows add
 * their products with them before the next; the sums wait in memory meanwhile.
 */
final class VectorTiles {

    private static final VectorSpecies<Float> FS = VectorForms.FLOATS;
    private static final int V = FS.length();
    private static final int L = Lanes.COUNT;
    private static final int PARTS = L / V;
    private static final int GROUP = LinearScratch.GROUP;

    /** Rows of the larger tile; 16 registers hold the sums of four rows only. */
    private static final int ROWS = V == 16 ? LinearScratch.ROWS : 4;

    private VectorTiles() {}

    static void linear(
            float[] x,
            int xOffset,
            int rows,
            Panels w,
            float[] prepared,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            int outStride,
            float[] scratch) {
        int inputs = w.inputs();
        int chunk = LinearScratch.chunk(w);
        int sums = LinearScratch.tiles(w);
        // Room for one part of the group's vectors after another, each of all rows.
        int part = Math.ceilDiv(rows, ROWS) * ROWS * GROUP * V;
        boolean scaled = w instanceof Panels.Blocks blocks && blocks.nibbles();
        float[] in = scaled ? prepared : x;
        int start = scaled ? rows * w.blocks() : xOffset;
        java.util.Arrays.fill(scratch, LinearScratch.ONES, LinearScratch.ONES + L, 1f);
        for (int panel = fromPanel; panel < toPanel; panel += GROUP) {
            int panels = Math.min(GROUP, toPanel - panel);
            java.util.Arrays.fill(scratch, sums, sums + PARTS * part, 0f);
            for (int i = 0; i < panels; i++) {
                VectorWidening.tables(w, panel + i, scratch, LinearScratch.TABLES + i * w.tableSize());
            }
            if (w.shifts() >= 0) {
                int shifts = LinearScratch.TABLES + w.shifts();
                group(
                        prepared,
                        0,
                        w.blocks(),
                        rows,
                        scratch,
                        shifts,
                        w.tableSize(),
                        panels,
                        w.blocks(),
                        w.blocks(),
                        -1,
                        0,
                        scratch,
                        sums);
            }
            for (int from = 0; from < inputs; from += chunk) {
                int size = Math.min(inputs - from, chunk);
                float[] wide = scratch;
                int base = LinearScratch.wide(w);
                int step = size * L;
                if (w instanceof Panels.F32 f32) {
                    wide = f32.data();
                    base = (panel * inputs + from) * L;
                    step = inputs * L;
                } else {
                    for (int i = 0; i < panels; i++) {
                        int tables = LinearScratch.TABLES + i * w.tableSize();
                        VectorWidening.widen(w, panel + i, from, from + size, scratch, tables, base + i * step);
                    }
                }
                int factors = w.factored() ? LinearScratch.TABLES + from / w.block() * L : -1;
                group(
                        in,
                        start + from,
                        inputs,
                        rows,
                        wide,
                        base,
                        step,
                        panels,
                        size,
                        w.block(),
                        factors,
                        w.tableSize(),
                        scratch,
                        sums);
            }
            for (int i = 0; i < panels * PARTS; i++) {
                int at = sums + i % PARTS * part + i / PARTS * V;
                for (int row = 0; row < rows; row++) {
                    int from = at + row * GROUP * V;
                    int to = outOffset + row * outStride;
                    VectorKernels.finish(scratch, from, panel * L + i * V, w, bias, biasOffset, out, to);
                }
            }
        }
    }

    /**
     * Adds some inputs of a group of panels to the sums of all rows, block by block. The last tile repeats its last row instead of
     * being shorter, and a panel that is not there is another once more.
     *
     * @param w widened weights, those of a panel {@code step} after those of the one before
     * @param factors where the first panel's factors of the first block stand, or -1 when there are none
     */
    private static void group(
            float[] x,
            int xOffset,
            int stride,
            int rows,
            float[] w,
            int base,
            int step,
            int panels,
            int inputs,
            int block,
            int factors,
            int tableSize,
            float[] scratch,
            int sums) {
        for (int part = 0; part < L; part += V) {
            int first = base + part;
            int second = first + Math.min(1, panels - 1) * step;
            int third = first + Math.min(2, panels - 1) * step;
            int to = sums;
            for (int row = 0; row < rows; ) {
                boolean many = ROWS > 4 && row + 4 < rows;
                int last = Math.min(many ? ROWS : 4, rows - row) - 1;
                for (int k = 0; k < inputs; k += block) {
                    int size = Math.min(block, inputs - k);
                    int from = xOffset + row * stride + k;
                    int a = first + k * L;
                    int b = second + k * L;
                    int c = third + k * L;
                    int table = factors < 0 ? LinearScratch.ONES : factors + k / block * L + part;
                    int tables = factors < 0 ? 0 : tableSize;
                    if (many) {
                        VectorRowTile.eight(x, from, stride, last, w, a, b, c, size, scratch, to, table, tables);
                    } else {
                        VectorRowTile.four(x, from, stride, last, w, a, b, c, size, scratch, to, table, tables);
                    }
                }
                row += many ? ROWS : 4;
                to += (many ? ROWS : 4) * GROUP * V;
            }
            sums += Math.ceilDiv(rows, ROWS) * ROWS * GROUP * V;
        }
    }
}
