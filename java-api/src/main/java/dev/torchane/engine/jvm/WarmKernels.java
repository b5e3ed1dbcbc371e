package dev.torchane.engine.jvm;

import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Vector kernels that are ready when they are called. Until the compiler has seen them, Vector API kernels are a hundred
 * times slower than plain Java, so a thread of low priority calls each on made-up data until it is fast, and calls go to the
 * scalar twin, which gives the same bits, until then.
 */
final class WarmKernels implements KernelSet {

    /** The kernels that are warmed one by one. */
    private enum Part {
        ROW_I8(8_000),
        TILES_I8(50_000),
        ROW_BLOCKS(8_000),
        TILES_BLOCKS(50_000),
        ROW_NIBBLES(8_000),
        TILES_NIBBLES(50_000),
        ROW_PALETTE(8_000),
        TILES_PALETTE(50_000),
        ROW_F16(8_000),
        TILES_F16(50_000),
        ROW_F32(8_000),
        TILES_F32(50_000),
        ATTENTION_F32(15_000),
        ATTENTION_F16(15_000),
        ATTENTION_I8(15_000),
        RMS_NORM(2_000),
        GATED(10_000);

        /** Nanoseconds below which one run of the made-up work was a compiled one. */
        private final long nanos;

        Part(long nanos) {
            this.nanos = nanos;
        }

        private static Part row(Panels w) {
            return switch (w) {
                case Panels.I8 i8 -> ROW_I8;
                case Panels.F16 f16 -> ROW_F16;
                case Panels.F32 f32 -> ROW_F32;
                case Panels.Palette palette -> ROW_PALETTE;
                case Panels.Blocks blocks -> blocks.nibbles() ? ROW_NIBBLES : ROW_BLOCKS;
            };
        }

        private static Part attention(StateMemory memory) {
            return switch (memory) {
                case FP32 -> ATTENTION_F32;
                case FP16 -> ATTENTION_F16;
                case INT8 -> ATTENTION_I8;
            };
        }

        private static Part tiles(Panels w) {
            return values()[row(w).ordinal() + 1];
        }
    }

    /** What is not urgent waits until the first token is out. */
    private static final List<Part> LATER = List.of(Part.RMS_NORM, Part.GATED);

    /** The one instance: what is compiled is compiled for the whole process. */
    private static final class Holder {
        static final WarmKernels INSTANCE = new WarmKernels();
    }

    private static final int ASKED = 1;
    private static final int READY = 2;

    /** Rows that use tiles of both heights. */
    private static final int TILES = 11;

    private final ScalarKernels scalar = new ScalarKernels();
    private final VectorKernels vector = new VectorKernels();
    /** Zero, or {@link #ASKED}, or {@link #READY}. */
    private final AtomicIntegerArray progress = new AtomicIntegerArray(Part.values().length);

    private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();

    private WarmKernels() {
        Thread thread = Thread.ofPlatform()
                .name("torch-ane-jvm-warm-up")
                .daemon(true)
                .priority(Thread.MIN_PRIORITY)
                .unstarted(this::work);
        thread.start();
    }

    /** The kernels of this process. */
    static WarmKernels instance() {
        return Holder.INSTANCE;
    }

    @Override
    public void expect(Panels w) {
        ask(Part.tiles(w));
        ask(Part.row(w));
    }

    /**
     * In the order in which a language model's first steps want them: many rows of most weights, one row of the others, which are the
     * head, one row of most weights.
     */
    @Override
    public void expect(List<Panels> forms) {
        if (!forms.isEmpty()) {
            ask(Part.tiles(forms.getFirst()));
            forms.reversed().forEach(form -> ask(Part.row(form)));
            forms.forEach(form -> ask(Part.tiles(form)));
        }
    }

    /** Warms what is not urgent: the plain Java kernels no longer need the cores. */
    @Override
    public void firstRunEnded(Set<StateMemory> memories) {
        memories.forEach(memory -> ask(Part.attention(memory)));
        LATER.forEach(this::ask);
    }

    /** Waits until all that was asked for is warm. */
    void await() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        queue.add(done::countDown);
        done.await();
    }

    private void ask(Part part) {
        if (progress.compareAndSet(part.ordinal(), 0, ASKED)) {
            queue.add(() -> {
                WarmUp.until(work(part, vector), part.nanos);
                progress.set(part.ordinal(), READY);
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
            case TILES_I8 -> WarmUp.linear(kernels, WarmUp.i8(), TILES);
            case ROW_BLOCKS -> WarmUp.linear(kernels, WarmUp.blocks(false), 1);
            case TILES_BLOCKS -> WarmUp.linear(kernels, WarmUp.blocks(false), TILES);
            case ROW_NIBBLES -> WarmUp.linear(kernels, WarmUp.blocks(true), 1);
            case TILES_NIBBLES -> WarmUp.linear(kernels, WarmUp.blocks(true), TILES);
            case ROW_PALETTE -> WarmUp.linear(kernels, WarmUp.palette(), 1);
            case TILES_PALETTE -> WarmUp.linear(kernels, WarmUp.palette(), TILES);
            case ROW_F16 -> WarmUp.linear(kernels, WarmUp.f16(), 1);
            case TILES_F16 -> WarmUp.linear(kernels, WarmUp.f16(), TILES);
            case ROW_F32 -> WarmUp.linear(kernels, WarmUp.f32(), 1);
            case TILES_F32 -> WarmUp.linear(kernels, WarmUp.f32(), TILES);
            case ATTENTION_F32 -> WarmUp.attention(kernels, StateMemory.FP32);
            case ATTENTION_F16 -> WarmUp.attention(kernels, StateMemory.FP16);
            case ATTENTION_I8 -> WarmUp.attention(kernels, StateMemory.INT8);
            case RMS_NORM -> WarmUp.rmsNorm(kernels);
            case GATED -> WarmUp.swiglu(kernels);
        };
    }

    private Kernels choose(Part part) {
        return progress.get(part.ordinal()) == READY ? vector : scalar;
    }

    /** What nobody expected is warmed from its first use on: operands that are packed in each call are. */
    @Override
    public Kernels linear(Panels w, int rows) {
        Part part = rows == 1 ? Part.row(w) : Part.tiles(w);
        Kernels chosen = choose(part);
        if (chosen == scalar) {
            ask(part);
        }
        return chosen;
    }

    @Override
    public Kernels attention(StateMemory memory) {
        return choose(Part.attention(memory));
    }

    @Override
    public Kernels rmsNorm() {
        return choose(Part.RMS_NORM);
    }

    @Override
    public Kernels gated() {
        return choose(Part.GATED);
    }
}
