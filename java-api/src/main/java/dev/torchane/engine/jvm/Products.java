package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.program.TensorType;
import java.util.Map;
import java.util.function.Consumer;

/** Linear layers and products of matrices. */
final class Products {

    private Products() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("linear", Products::linear);
        table.put("matmul", Products::matmul);
    }

    private static void linear(OpContext context) {
        Operand x = context.in("x");
        TensorType type = context.type("weight");
        Operand bias = context.maybe("bias").orElse(null);
        Operand out = context.out();
        if (type.rank() != 2) {
            throw new TorchAneException(context.describe() + " has a weight of type " + type + ", expected rank 2");
        }
        Panels panels = panels(context, type);
        int rows = x.size() / Math.max(1, panels.inputs());
        context.step(LinearStep.of(x, panels, bias, rows, out));
    }

    private static Panels panels(OpContext context, TensorType type) {
        WeightRef ref = context.weight("weight").orElse(null);
        if (ref != null) {
            return context.store().panels(ref);
        }
        Operand weight = context.in("weight");
        if (!weight.isConstant()) {
            throw new TorchAneException(context.describe() + " has a weight that is not a constant");
        }
        return WeightStore.panels(weight.buffer().constant, weight.start(), type.axis(0), type.axis(1));
    }

    private static void matmul(OpContext context) {
        Operand x = context.in("x");
        Operand y = context.in("y");
        Operand out = context.out();
        boolean transposeX = context.flag("transpose_x", false);
        boolean transposeY = context.flag("transpose_y", false);
        int[] xs = x.shape().length == 1 ? new int[] {1, x.size()} : x.shape();
        int[] ys = y.shape().length == 1 ? new int[] {y.size(), 1} : y.shape();
        int rows = xs[xs.length - (transposeX ? 1 : 2)];
        int inner = xs[xs.length - (transposeX ? 2 : 1)];
        int columns = ys[ys.length - (transposeY ? 2 : 1)];
        int batches = out.size() / Math.max(1, rows * columns);
        int rank = Math.max(xs.length, ys.length) - 2;
        int[] batch = batchShape(xs, ys, rank);
        int[] xAt = batchOffsets(xs, batch);
        int[] yAt = batchOffsets(ys, batch);
        if (!transposeX && rows >= MatrixProducts.LEAST_ROWS && (long) inner * columns >= 256) {
            context.step(new MatrixProducts(x, y, out, rows, inner, columns, xAt, yAt, transposeY));
            return;
        }
        context.step(new Matmul(x, y, out, rows, inner, columns, batches, xAt, yAt, transposeX, transposeY));
    }

    private static int[] batchShape(int[] xs, int[] ys, int rank) {
        int[] batch = new int[rank];
        for (int axis = 0; axis < rank; axis++) {
            int fromEnd = rank - axis + 2;
            int a = fromEnd <= xs.length ? xs[xs.length - fromEnd] : 1;
            int b = fromEnd <= ys.length ? ys[ys.length - fromEnd] : 1;
            batch[axis] = Math.max(a, b);
        }
        return batch;
    }

    private static int[] batchOffsets(int[] shape, int[] batch) {
        int[] own = java.util.Arrays.copyOf(shape, shape.length - 2);
        int matrix = shape[shape.length - 1] * shape[shape.length - 2];
        int[] strides = Strides.broadcast(own, batch);
        int[] dense = Strides.of(batch);
        int[] offsets = new int[Strides.elements(batch)];
        for (int i = 0; i < offsets.length; i++) {
            for (int axis = 0; axis < batch.length; axis++) {
                offsets[i] += i / dense[axis] % batch[axis] * strides[axis] * matrix;
            }
        }
        return offsets;
    }

    private record Matmul(
            Operand x,
            Operand y,
            Operand out,
            int rows,
            int inner,
            int columns,
            int batches,
            int[] xAt,
            int[] yAt,
            boolean transposeX,
            boolean transposeY)
            implements Step, WorkerPool.Task {

        @Override
        public void run(Call call) {
            long work = (long) batches * rows * inner * columns;
            call.parallel(this, work < 1 << 16 ? 1 : Math.min(batches * rows, 64));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            long work = (long) batches * rows * inner * columns;
            int chunks = work < 1 << 16 ? 1 : Math.min(batches * rows, 64);
            int all = batches * rows;
            int end = (int) ((long) all * (chunk + 1) / chunks);
            for (int i = (int) ((long) all * chunk / chunks); i < end; i++) {
                row(x.array(call), y.array(call), out.array(call), i / rows, i % rows);
            }
        }

        /** One row of the result; products are added in the order of the inner axis. */
        private void row(float[] a, float[] b, float[] to, int batch, int row) {
            int at = out.offset() + (batch * rows + row) * columns;
            int left = x.offset() + xAt[batch] + (transposeX ? row : row * inner);
            int step = transposeX ? rows : 1;
            int right = y.offset() + yAt[batch];
            if (transposeY) {
                for (int j = 0; j < columns; j++) {
                    float sum = 0;
                    for (int k = 0; k < inner; k++) {
                        sum = Math.fma(a[left + k * step], b[right + j * inner + k], sum);
                    }
                    to[at + j] = sum;
                }
                return;
            }
            java.util.Arrays.fill(to, at, at + columns, 0f);
            for (int k = 0; k < inner; k++) {
                axpy(a[left + k * step], b, right + k * columns, to, at, columns);
            }
        }

        private static void axpy(float factor, float[] b, int from, float[] to, int at, int columns) {
            for (int j = 0; j < columns; j++) {
                to[at + j] = Math.fma(factor, b[from + j], to[at + j]);
            }
        }
    }
}
