package dev.torchane.engine.jvm;

/**
 * A product of two computed matrices with the kernel of linear layers: columns of the second are packed as panels. Products are
 * added in the order of the inner axis.
 *
 * @param xAt first element of each batch's first matrix, relative to the operand
 * @param yAt the same of the second
 * @param transposeY whether the second is {@code [columns][inner]}
 */
record MatrixProducts(
        Operand x, Operand y, Operand out, int rows, int inner, int columns, int[] xAt, int[] yAt, boolean transposeY)
        implements Step, WorkerPool.Task {

    /** Rows below which packing costs more than it brings. */
    static final int LEAST_ROWS = 4;

    private static final int PANELS = LinearScratch.GROUP;

    private static final int BLOCK = PANELS * Lanes.COUNT;

    private int chunks() {
        return Math.min(1 << 15, xAt.length * Math.ceilDiv(columns, BLOCK));
    }

    @Override
    public void run(Call call) {
        call.parallel(this, chunks());
    }

    @Override
    public void run(Call call, int chunk, int worker) {
        int blocks = Math.ceilDiv(columns, BLOCK);
        int all = xAt.length * blocks;
        int end = (int) ((long) all * (chunk + 1) / chunks());
        for (int i = (int) ((long) all * chunk / chunks()); i < end; i++) {
            block(call, worker, i / blocks, i % blocks * BLOCK);
        }
    }

    private void block(Call call, int worker, int batch, int first) {
        int count = Math.min(BLOCK, columns - first);
        float[] packed = call.packed(worker, 0, Panels.length(BLOCK, inner));
        int from = y.offset() + yAt[batch];
        if (transposeY) {
            Panels.packRows(y.array(call), from + first * inner, inner, count, packed, 0);
        } else {
            Panels.packColumns(y.array(call), from + first, columns, inner, count, packed);
        }
        Panels panels = new Panels.F32(count, inner, packed);
        call.kernels
                .linear(panels, rows)
                .linear(
                        x.array(call),
                        x.offset() + xAt[batch],
                        rows,
                        panels,
                        null,
                        null,
                        0,
                        0,
                        panels.count(),
                        out.array(call),
                        out.offset() + batch * rows * columns + first,
                        columns,
                        call.scratch(worker, Kernels.linearScratch(panels, rows)));
    }
}
