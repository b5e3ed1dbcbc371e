package dev.torchane.engine.jvm;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Vector kernels that are ready when they are called. Until the compiler has seen them, Vector API kernels are a hundred
 * times slower than plain Java, so a thread of low priority calls each on made-up data until it is fast, and calls go to the
 * scalar twin, which gives the same bits, until then.
 */
final class WarmKernels implements Kernels {

    /** The kernels that are warmed one by one. */
    private enum Part {
        ROW_I8(8_000),
        TILES_I8(50_000),
        ROW_F16(8_000),
        TILES_F16(50_000),
        ROW_F32(8_000),
        TILES_F32(50_000),
        ATTENTION_F32(15_000),
        ATTENTION_F16(15_000),
        RMS_NORM(2_000),
        SWIGLU(10_000);

        /** Nanoseconds below which one run of the made-up work was a compiled one. */
        private final long nanos;

        Part(long nanos) {
            this.nanos = nanos;
        }
    }

    /** What the first token needs most; the rest waits until it is out. */
    private static final List<Part> FIRST = List.of(Part.TILES_I8, Part.ROW_I8);

    private static final List<Part> LATER = List.of(Part.ATTENTION_F32, Part.RMS_NORM, Part.SWIGLU);

    /** The one instance: what is compiled is compiled for the whole process. */
    private static final class Holder {
        static final WarmKernels INSTANCE = new WarmKernels();
    }

    private final ScalarKernels scalar = new ScalarKernels();
    private final VectorKernels vector = new VectorKernels();
    private final boolean[] asked = new boolean[Part.values().length];
    private final AtomicIntegerArray ready = new AtomicIntegerArray(Part.values().length);
    private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();

    private WarmKernels() {
        Thread thread = Thread.ofPlatform()
                .name("torch-ane-jvm-warm-up")
                .daemon(true)
                .priority(Thread.MIN_PRIORITY)
                .unstarted(this::work);
        FIRST.forEach(this::ask);
        thread.start();
    }

    /** The kernels; the first call begins to warm those that the first token needs. */
    static WarmKernels instance() {
        return Holder.INSTANCE;
    }

    /** Also warms the kernels for some weights. */
    void expect(Panels w) {
        switch (w) {
            case Panels.I8 i8 -> {}
            case Panels.F16 f16 -> {
                ask(Part.TILES_F16);
                ask(Part.ROW_F16);
            }
            case Panels.F32 f32 -> {
                ask(Part.TILES_F32);
                ask(Part.ROW_F32);
            }
        }
    }

    /** Warms what is not urgent: called when the first run is over and its plain Java kernels no longer need the cores. */
    void continueWith(boolean halfStates) {
        LATER.forEach(this::ask);
        if (halfStates) {
            ask(Part.ATTENTION_F16);
        }
    }

    /** Waits until all that was asked for is warm. */
    void await() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        queue.add(done::countDown);
        done.await();
    }

    private synchronized void ask(Part part) {
        if (!asked[part.ordinal()]) {
            asked[part.ordinal()] = true;
            queue.add(() -> {
                WarmUp.until(work(part, vector), part.nanos);
                ready.set(part.ordinal(), 1);
            });
        }
    }

    private void work() {
        try {
            while (true) {
                queue.take().run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Runnable work(Part part, Kernels kernels) {
        return switch (part) {
            case ROW_I8 -> WarmUp.linear(kernels, WarmUp.i8(), 1);
            case TILES_I8 -> WarmUp.linear(kernels, WarmUp.i8(), 7);
            case ROW_F16 -> WarmUp.linear(kernels, WarmUp.f16(), 1);
            case TILES_F16 -> WarmUp.linear(kernels, WarmUp.f16(), 7);
            case ROW_F32 -> WarmUp.linear(kernels, WarmUp.f32(), 1);
            case TILES_F32 -> WarmUp.linear(kernels, WarmUp.f32(), 7);
            case ATTENTION_F32 -> WarmUp.attention(kernels, false);
            case ATTENTION_F16 -> WarmUp.attention(kernels, true);
            case RMS_NORM -> WarmUp.rmsNorm(kernels);
            case SWIGLU -> WarmUp.swiglu(kernels);
        };
    }

    private Kernels choose(Part part) {
        return ready.get(part.ordinal()) == 1 ? vector : scalar;
    }

    @Override
    public void linear(
            float[] x,
            int xOffset,
            int rows,
            Panels w,
            float[] bias,
            int biasOffset,
            int fromPanel,
            int toPanel,
            float[] out,
            int outOffset,
            int outStride,
            float[] scratch) {
        Part part = switch (w) {
            case Panels.I8 i8 -> rows == 1 ? Part.ROW_I8 : Part.TILES_I8;
            case Panels.F16 f16 -> rows == 1 ? Part.ROW_F16 : Part.TILES_F16;
            case Panels.F32 f32 -> rows == 1 ? Part.ROW_F32 : Part.TILES_F32;
        };
        choose(part)
                .linear(x, xOffset, rows, w, bias, biasOffset, fromPanel, toPanel, out, outOffset, outStride, scratch);
    }

    @Override
    public void attention(
            float[] q,
            int qOffset,
            float scale,
            Object keys,
            int keyOffset,
            Object values,
            int valueOffset,
            float[] mask,
            int maskOffset,
            int[] columns,
            int columnsOffset,
            int count,
            int dim,
            float[] out,
            int outOffset,
            float[] scratch) {
        choose(keys instanceof short[] ? Part.ATTENTION_F16 : Part.ATTENTION_F32)
                .attention(
                        q,
                        qOffset,
                        scale,
                        keys,
                        keyOffset,
                        values,
                        valueOffset,
                        mask,
                        maskOffset,
                        columns,
                        columnsOffset,
                        count,
                        dim,
                        out,
                        outOffset,
                        scratch);
    }

    @Override
    public void rmsNorm(
            float[] x,
            int xOffset,
            float[] weight,
            int weightOffset,
            float epsilon,
            int size,
            float[] out,
            int outOffset,
            float[] scratch) {
        choose(Part.RMS_NORM).rmsNorm(x, xOffset, weight, weightOffset, epsilon, size, out, outOffset, scratch);
    }

    @Override
    public void swiglu(float[] gate, int gateOffset, float[] up, int upOffset, int size, float[] out, int outOffset) {
        choose(Part.SWIGLU).swiglu(gate, gateOffset, up, upOffset, size, out, outOffset);
    }
}
