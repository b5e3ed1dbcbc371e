package dev.torchane.engine.jvm;

import java.util.Arrays;

/**
 * {@code out = function(x, y)} where an operand is repeated along some axes. Neighbouring axes on which both go on evenly are one; the
 * last of what remains is the inner loop.
 *
 * @param shape what remains of the axes
 */
record Broadcast(
        String kind,
        Elementwise.Binary function,
        Operand x,
        int[] xStrides,
        Operand y,
        int[] yStrides,
        Operand out,
        int[] shape)
        implements Step, WorkerPool.Task {

    /** Elements that are worth a chunk of their own. */
    private static final int GRAIN = 1 << 14;

    static Broadcast of(String kind, Elementwise.Binary function, Operand x, Operand y, Operand out) {
        int[] full = out.shape();
        int[] xs = Strides.broadcast(x.shape(), full);
        int[] ys = Strides.broadcast(y.shape(), full);
        int[] shape = new int[Math.max(1, full.length)];
        int[] xKept = new int[shape.length];
        int[] yKept = new int[shape.length];
        int rank = 0;
        for (int axis = 0; axis < full.length; axis++) {
            if (full[axis] == 1) {
                continue;
            }
            boolean goesOn =
                    rank > 0 && xKept[rank - 1] == xs[axis] * full[axis] && yKept[rank - 1] == ys[axis] * full[axis];
            rank = goesOn ? rank : rank + 1;
            shape[rank - 1] = goesOn ? shape[rank - 1] * full[axis] : full[axis];
            xKept[rank - 1] = xs[axis];
            yKept[rank - 1] = ys[axis];
        }
        if (rank == 0) {
            shape[0] = 1;
            rank = 1;
        }
        if (xKept[rank - 1] == 0 && (kind.equals("add") || kind.equals("mul"))) {
            Operand second = x;
            int[] strides = xKept;
            x = y;
            xKept = yKept;
            y = second;
            yKept = strides;
        }
        return new Broadcast(
                kind,
                function,
                x,
                Arrays.copyOf(xKept, rank),
                y,
                Arrays.copyOf(yKept, rank),
                out,
                Arrays.copyOf(shape, rank));
    }

    private int rows() {
        return out.size() / Math.max(1, shape[shape.length - 1]);
    }

    private int chunks() {
        return Math.clamp(out.size() / GRAIN, 1, Math.max(1, Math.min(rows(), 1 << 12)));
    }

    @Override
    public void run(Call call) {
        call.parallel(this, chunks());
    }

    @Override
    public void run(Call call, int chunk, int worker) {
        int rows = rows();
        int last = shape.length - 1;
        int size = shape[last];
        for (int row = (int) ((long) rows * chunk / chunks()); row < (long) rows * (chunk + 1) / chunks(); row++) {
            int a = x.offset();
            int b = y.offset();
            for (int axis = last - 1, rest = row; axis >= 0; axis--) {
                int at = rest % shape[axis];
                rest /= shape[axis];
                a += at * xStrides[axis];
                b += at * yStrides[axis];
            }
            row(x.array(call), a, xStrides[last], y.array(call), b, yStrides[last], out.array(call), row * size, size);
        }
    }

    private void row(float[] a, int aAt, int aStep, float[] b, int bAt, int bStep, float[] to, int row, int size) {
        int at = out.offset() + row;
        if (kind.equals("add") && aStep == 1) {
            add(a, aAt, b, bAt, bStep, to, at, size);
        } else if (kind.equals("mul") && aStep == 1) {
            multiply(a, aAt, b, bAt, bStep, to, at, size);
        } else {
            for (int i = 0; i < size; i++) {
                to[at + i] = function.apply(a[aAt + i * aStep], b[bAt + i * bStep]);
            }
        }
    }

    private static void add(float[] a, int aAt, float[] b, int bAt, int bStep, float[] to, int at, int size) {
        if (bStep == 0) {
            float number = b[bAt];
            for (int i = 0; i < size; i++) {
                to[at + i] = a[aAt + i] + number;
            }
        } else {
            for (int i = 0; i < size; i++) {
                to[at + i] = a[aAt + i] + b[bAt + i];
            }
        }
    }

    private static void multiply(float[] a, int aAt, float[] b, int bAt, int bStep, float[] to, int at, int size) {
        if (bStep == 0) {
            float number = b[bAt];
            for (int i = 0; i < size; i++) {
                to[at + i] = a[aAt + i] * number;
            }
        } else {
            for (int i = 0; i < size; i++) {
                to[at + i] = a[aAt + i] * b[bAt + i];
            }
        }
    }
}
