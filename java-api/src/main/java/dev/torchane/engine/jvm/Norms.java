package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Normalisations and softmax. */
final class Norms {

    private Norms() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("softmax", Norms::softmax);
        table.put("layer_norm", Norms::layerNorm);
        table.put("batch_norm", Norms::batchNorm);
        table.put("instance_norm", Norms::instanceNorm);
        table.put("l2_norm", Norms::l2Norm);
        table.put(FuseGroups.RMS_NORM, Norms::rmsNorm);
        table.put(FuseGroups.SWIGLU, Norms::swiglu);
    }

    private static void softmax(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int[] shape = x.shape();
        int axis = context.axis("axis", -1, shape.length);
        int size = shape[axis];
        int inner = Strides.elements(shape, axis + 1, shape.length);
        context.step(new Rows(x.size() / Math.max(1, size), size, (call, _, first, end) -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            for (int i = first; i < end; i++) {
                int at = i / inner * inner * size + i % inner;
                float max = Float.NEGATIVE_INFINITY;
                for (int j = 0; j < size; j++) {
                    max = Math.max(max, in[x.offset() + at + j * inner]);
                }
                double sum = 0;
                for (int j = 0; j < size; j++) {
                    float e = Maths.exp(in[x.offset() + at + j * inner] - max);
                    to[out.offset() + at + j * inner] = e;
                    sum += e;
                }
                for (int j = 0; j < size; j++) {
                    to[out.offset() + at + j * inner] = (float) (to[out.offset() + at + j * inner] / sum);
                }
            }
        }));
    }

    /** What a worker does with rows {@code [first, end)}. */
    private interface Body {
        void run(Call call, int worker, int first, int end);
    }

    /** Rows that do not depend on each other, divided between the threads. */
    private record Rows(int rows, int size, Body body) implements Step, WorkerPool.Task {

        private static final int GRAIN = 1 << 13;

        private int chunks() {
            return Math.clamp((long) rows * size / GRAIN, 1, Math.max(1, Math.min(rows, 256)));
        }

        @Override
        public void run(Call call) {
            call.parallel(this, chunks());
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int chunks = chunks();
            body.run(call, worker, (int) ((long) rows * chunk / chunks), (int) ((long) rows * (chunk + 1) / chunks));
        }
    }

    /** Normalises over trailing axes. */
    private static void layerNorm(OpContext context) {
        Operand x = context.in("x");
        Operand gamma = context.maybe("gamma").orElse(null);
        Operand beta = context.maybe("beta").orElse(null);
        Operand out = context.out();
        int[] shape = x.shape();
        int first = shape.length;
        for (int axis : context.ints("axes", -1)) {
            first = Math.min(first, Math.floorMod(axis, shape.length));
        }
        int size = Strides.elements(shape, first, shape.length);
        double epsilon = context.number("epsilon", 1e-5f);
        context.step(new Rows(x.size() / Math.max(1, size), size, (call, _, begin, end) -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            float[] g = gamma == null ? null : gamma.array(call);
            float[] b = beta == null ? null : beta.array(call);
            for (int row = begin; row < end; row++) {
                int from = x.offset() + row * size;
                double mean = mean(in, from, size);
                double factor = 1 / Math.sqrt(variance(in, from, size, mean) + epsilon);
                for (int i = 0; i < size; i++) {
                    double value = (in[from + i] - mean) * factor;
                    value = g == null ? value : value * g[gamma.offset() + i];
                    value = b == null ? value : value + b[beta.offset() + i];
                    to[out.offset() + row * size + i] = (float) value;
                }
            }
        }));
    }

    /** Four sums side by side: one alone would wait for each addition. */
    private static double mean(float[] values, int from, int size) {
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        int i = 0;
        for (; i + 4 <= size; i += 4) {
            a += values[from + i];
            b += values[from + i + 1];
            c += values[from + i + 2];
            d += values[from + i + 3];
        }
        for (; i < size; i++) {
            a += values[from + i];
        }
        return (a + b + (c + d)) / size;
    }

    private static double variance(float[] values, int from, int size, double mean) {
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        int i = 0;
        for (; i + 4 <= size; i += 4) {
            double w = values[from + i] - mean;
            double x = values[from + i + 1] - mean;
            double y = values[from + i + 2] - mean;
            double z = values[from + i + 3] - mean;
            a = Math.fma(w, w, a);
            b = Math.fma(x, x, b);
            c = Math.fma(y, y, c);
            d = Math.fma(z, z, d);
        }
        for (; i < size; i++) {
            double distance = values[from + i] - mean;
            a = Math.fma(distance, distance, a);
        }
        return (a + b + (c + d)) / size;
    }

    /** Normalises each channel (axis 1) with given moments. */
    private static void batchNorm(OpContext context) {
        Operand x = context.in("x");
        Operand mean = context.in("mean");
        Operand variance = context.in("variance");
        Operand gamma = context.maybe("gamma").orElse(null);
        Operand beta = context.maybe("beta").orElse(null);
        Operand out = context.out();
        int[] shape = x.shape();
        int channels = shape[1];
        int inner = Strides.elements(shape, 2, shape.length);
        double epsilon = context.number("epsilon", 1e-5f);
        context.step(new Rows(x.size() / Math.max(1, inner), inner, (call, _, first, end) -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            for (int row = first; row < end; row++) {
                int c = row % channels;
                double factor = 1 / Math.sqrt(variance.array(call)[variance.offset() + c] + epsilon);
                factor = gamma == null ? factor : factor * gamma.array(call)[gamma.offset() + c];
                double middle = mean.array(call)[mean.offset() + c];
                double shift = beta == null ? 0 : beta.array(call)[beta.offset() + c];
                scale(in, x.offset() + row * inner, middle, factor, shift, to, out.offset() + row * inner, inner);
            }
        }));
    }

    /** Normalises each channel of each image with its own moments. */
    private static void instanceNorm(OpContext context) {
        Operand x = context.in("x");
        Operand gamma = context.maybe("gamma").orElse(null);
        Operand beta = context.maybe("beta").orElse(null);
        Operand out = context.out();
        int[] shape = x.shape();
        int channels = shape[1];
        int inner = Strides.elements(shape, 2, shape.length);
        double epsilon = context.number("epsilon", 1e-5f);
        context.step(new Rows(x.size() / Math.max(1, inner), inner, (call, _, first, end) -> {
            float[] in = x.array(call);
            for (int row = first; row < end; row++) {
                int from = x.offset() + row * inner;
                double mean = mean(in, from, inner);
                double factor = 1 / Math.sqrt(variance(in, from, inner, mean) + epsilon);
                int c = row % channels;
                factor = gamma == null ? factor : factor * gamma.array(call)[gamma.offset() + c];
                double shift = beta == null ? 0 : beta.array(call)[beta.offset() + c];
                scale(in, from, mean, factor, shift, out.array(call), out.offset() + row * inner, inner);
            }
        }));
    }

    private static void scale(
            float[] in, int from, double mean, double factor, double shift, float[] to, int at, int size) {
        for (int i = 0; i < size; i++) {
            to[at + i] = (float) ((in[from + i] - mean) * factor + shift);
        }
    }

    /** Divides by the norm over the last three axes. */
    private static void l2Norm(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int[] shape = x.shape();
        int size = Strides.elements(shape, Math.max(0, shape.length - 3), shape.length);
        double epsilon = context.number("epsilon", 1e-6f);
        context.step(call -> {
            float[] in = x.array(call);
            for (int row = 0; row < x.size() / Math.max(1, size); row++) {
                int from = x.offset() + row * size;
                double sum = epsilon;
                for (int i = 0; i < size; i++) {
                    sum += (double) in[from + i] * in[from + i];
                }
                double factor = 1 / Math.sqrt(sum);
                for (int i = 0; i < size; i++) {
                    out.array(call)[out.offset() + row * size + i] = (float) (in[from + i] * factor);
                }
            }
        });
    }

    private static void rmsNorm(OpContext context) {
        Operand x = context.in("x");
        Operand weight = context.in("weight");
        Operand out = context.out();
        int size = x.type().axis(-1);
        float epsilon = context.number("epsilon", 0f);
        context.step(new Rows(x.size() / Math.max(1, size), size, (call, worker, first, end) -> {
            float[] scratch = call.scratch(worker, Lanes.COUNT);
            Kernels kernels = call.kernels.rmsNorm();
            for (int row = first; row < end; row++) {
                kernels.rmsNorm(
                        x.array(call),
                        x.offset() + row * size,
                        weight.array(call),
                        weight.offset(),
                        epsilon,
                        size,
                        out.array(call),
                        out.offset() + row * size,
                        scratch);
            }
        }));
    }

    private static void swiglu(OpContext context) {
        context.step(new Swiglu(context.in("gate"), context.in("up"), context.out()));
    }

    private record Swiglu(Operand gate, Operand up, Operand out) implements Step, WorkerPool.Task {

        private static final int CHUNK = 1 << 12;

        @Override
        public void run(Call call) {
            call.parallel(this, Math.ceilDiv(out.size(), CHUNK));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int from = chunk * CHUNK;
            call.kernels
                    .gated()
                    .swiglu(
                            gate.array(call),
                            gate.offset() + from,
                            up.array(call),
                            up.offset() + from,
                            Math.min(CHUNK, out.size() - from),
                            out.array(call),
                            out.offset() + from);
        }
    }
}
