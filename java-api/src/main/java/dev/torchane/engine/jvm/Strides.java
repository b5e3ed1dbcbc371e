package dev.torchane.engine.jvm;

/** Row-major strides, and copies between strided parts of arrays. */
final class Strides {

    private Strides() {}

    /** Strides of a densely packed tensor. */
    static int[] of(int[] shape) {
        int[] strides = new int[shape.length];
        int stride = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            stride *= shape[axis];
        }
        return strides;
    }

    static int elements(int[] shape) {
        return elements(shape, 0, shape.length);
    }

    /** Product of the axes {@code [from, to)}. */
    static int elements(int[] shape, int from, int to) {
        int product = 1;
        for (int axis = from; axis < to; axis++) {
            product = Math.multiplyExact(product, shape[axis]);
        }
        return product;
    }

    /** Strides with which a tensor is read as if it had another shape: 0 on axes that broadcast. */
    static int[] broadcast(int[] shape, int[] to) {
        int[] own = of(shape);
        int[] strides = new int[to.length];
        int missing = to.length - shape.length;
        for (int axis = missing; axis < to.length; axis++) {
            strides[axis] = shape[axis - missing] == 1 ? 0 : own[axis - missing];
        }
        return strides;
    }

    /**
     * A copy of {@code shape} elements between two strided views, with neighbouring axes merged.
     *
     * @param from first element of the source view, relative to the operand
     * @param to first element of the target view, relative to the operand
     */
    static Step copy(
            Operand source, int from, int[] sourceStrides, Operand target, int to, int[] targetStrides, int[] shape) {
        int rank = 0;
        int[] sizes = new int[shape.length + 1];
        int[] read = new int[shape.length + 1];
        int[] write = new int[shape.length + 1];
        for (int axis = 0; axis < shape.length; axis++) {
            if (shape[axis] == 1) {
                continue;
            }
            if (rank > 0
                    && read[rank - 1] == sourceStrides[axis] * shape[axis]
                    && write[rank - 1] == targetStrides[axis] * shape[axis]) {
                sizes[rank - 1] *= shape[axis];
                read[rank - 1] = sourceStrides[axis];
                write[rank - 1] = targetStrides[axis];
                continue;
            }
            sizes[rank] = shape[axis];
            read[rank] = sourceStrides[axis];
            write[rank] = targetStrides[axis];
            rank++;
        }
        if (rank == 0) {
            sizes[0] = elements(shape);
            read[0] = 1;
            write[0] = 1;
            rank = 1;
        }
        return new Copy(
                source,
                from,
                java.util.Arrays.copyOf(read, rank),
                target,
                to,
                java.util.Arrays.copyOf(write, rank),
                java.util.Arrays.copyOf(sizes, rank));
    }

    private record Copy(Operand source, int from, int[] read, Operand target, int to, int[] write, int[] sizes)
            implements Step, WorkerPool.Task {

        /** Elements that are worth a chunk of their own. */
        private static final int GRAIN = 1 << 14;

        private int chunks() {
            return sizes.length == 1 ? 1 : Math.clamp(elements(sizes) / GRAIN, 1, Math.max(1, Math.min(sizes[0], 256)));
        }

        @Override
        public void run(Call call) {
            call.parallel(this, chunks());
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int chunks = chunks();
            int at = source.offset() + from;
            int into = target.offset() + to;
            if (chunks == 1) {
                copy(source.array(call), at, target.array(call), into, 0);
                return;
            }
            int end = (int) ((long) sizes[0] * (chunk + 1) / chunks);
            for (int i = (int) ((long) sizes[0] * chunk / chunks); i < end; i++) {
                copy(source.array(call), at + i * read[0], target.array(call), into + i * write[0], 1);
            }
        }

        private void copy(float[] in, int at, float[] out, int to, int axis) {
            int size = sizes[axis];
            int step = read[axis];
            int stride = write[axis];
            if (axis < sizes.length - 1) {
                for (int i = 0; i < size; i++) {
                    copy(in, at + i * step, out, to + i * stride, axis + 1);
                }
            } else if (step == 1 && stride == 1) {
                System.arraycopy(in, at, out, to, size);
            } else {
                for (int i = 0; i < size; i++) {
                    out[to + i * stride] = in[at + i * step];
                }
            }
        }
    }
}
