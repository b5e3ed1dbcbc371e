package dev.torchane.engine.jvm;

/**
 * What the kernels of {@link Panels.Blocks} want of the rows, computed once for all outputs: the sum of each block of inputs,
 * {@code [rows][blocks]}; for nibbles then the rows again, {@code [rows][inputs]}, each input divided by the
 * place of its nibble ({@link #PLACES}), so that a kernel need not shift nibbles down.
 */
final class BlockInputs {

    /** Powers of two by which inputs are multiplied; the eighth nibble of four bytes is shifted down and keeps its input. */
    private static final float[] PLACES = new float[LinearScratch.CHUNK];

    static {
        for (int i = 0; i < PLACES.length; i++) {
            PLACES[i] = i % 8 == 7 ? 1 : Math.scalb(1f, -4 * (i % 8));
        }
    }

    private BlockInputs() {}

    static int size(Panels w, int rows) {
        return w instanceof Panels.Blocks blocks
                ? scaled(blocks, rows) + (blocks.nibbles() ? rows * blocks.inputs() : 0)
                : 0;
    }

    /** Whether what is prepared of rows for one layer serves the other: nothing is for weights without blocks. */
    static boolean alike(Panels one, Panels other) {
        if (one instanceof Panels.Blocks != other instanceof Panels.Blocks || one.inputs() != other.inputs()) {
            return false;
        }
        return !(one instanceof Panels.Blocks a && other instanceof Panels.Blocks b)
                || a.block() == b.block() && a.nibbles() == b.nibbles();
    }

    private static int scaled(Panels.Blocks w, int rows) {
        return rows * w.blocks();
    }

    /** Prepares some of the rows. */
    static void prepare(float[] x, int xOffset, int rows, int fromRow, int toRow, Panels.Blocks w, float[] to) {
        int count = w.blocks();
        int block = w.block();
        int scaled = scaled(w, rows);
        for (int i = fromRow * count; i < toRow * count; i++) {
            int from = xOffset + i * block;
            to[i] = sum(x, from, block);
            if (w.nibbles()) {
                scale(x, from, to, scaled + i * block, block);
            }
        }
    }

    /** Four sums of every fourth input, then those: one sum would wait for each addition. */
    private static float sum(float[] x, int from, int size) {
        float a = 0;
        float b = 0;
        float c = 0;
        float d = 0;
        int whole = size - size % 4;
        for (int k = from; k < from + whole; k += 4) {
            a += x[k];
            b += x[k + 1];
            c += x[k + 2];
            d += x[k + 3];
        }
        for (int k = from + whole; k < from + size; k++) {
            a += x[k];
        }
        return (a + b) + (c + d);
    }

    private static void scale(float[] x, int from, float[] to, int at, int size) {
        for (int k = 0; k < size; k++) {
            to[at + k] = x[from + k] * PLACES[k];
        }
    }

    /** Prepares the rows of a linear layer for all threads of a call. */
    record Preparation(Operand x, Panels.Blocks weight, int rows) implements WorkerPool.Task {

        /** Rows below which the caller does it alone. */
        private static final int FEW = 16;

        void run(Call call) {
            call.prepared(size(weight, rows));
            call.parallel(this, rows < FEW ? 1 : 2 * call.threads());
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int chunks = rows < FEW ? 1 : 2 * call.threads();
            int from = rows * chunk / chunks;
            int to = rows * (chunk + 1) / chunks;
            prepare(x.array(call), x.offset(), rows, from, to, weight, call.prepared(0));
        }
    }
}
