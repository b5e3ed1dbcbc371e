package dev.torchane.cli.bench;

import java.util.concurrent.CountDownLatch;
import java.util.function.IntToDoubleFunction;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * What the machine can do, as Java reaches it: the roof that a kernel is compared with.
 *
 * @param bytesPerSecond of memory that is read in order, all threads
 * @param flopsPerSecond of fp32 fused multiply-adds in registers, two for each, all threads
 */
record Roofline(double bytesPerSecond, double flopsPerSecond) {

    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final int ELEMENTS = 64 << 20;
    private static final int PASSES = 6;
    private static final int FMA_ROUNDS = 1 << 20;
    private static final int CHAINS = 12;

    static boolean available() {
        return ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
    }

    /** Measures: the best of several passes, after the compiler is done. */
    static Roofline measure(int threads) {
        float[][] memory = new float[threads][ELEMENTS / threads];
        double bytes = 0;
        double flops = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            bytes = Math.max(bytes, 4.0 * ELEMENTS / seconds(threads, thread -> sum(memory[thread])));
            double operations = 2.0 * FMA_ROUNDS * CHAINS * FLOATS.length() * threads;
            flops = Math.max(flops, operations / seconds(threads, thread -> multiply(1 + thread * 1e-9f)));
        }
        return new Roofline(bytes, flops);
    }

    private static double seconds(int threads, IntToDoubleFunction work) {
        CountDownLatch done = new CountDownLatch(threads);
        double[] kept = new double[threads];
        long began = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            Thread.ofPlatform().daemon().start(() -> {
                kept[thread] = work.applyAsDouble(thread);
                done.countDown();
            });
        }
        try {
            done.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        return kept[0] == -1 ? 0 : seconds;
    }

    private static double sum(float[] data) {
        int v = FLOATS.length();
        FloatVector a = FloatVector.zero(FLOATS);
        FloatVector b = a;
        FloatVector c = a;
        FloatVector d = a;
        for (int i = 0; i + 4 * v <= data.length; i += 4 * v) {
            a = a.add(FloatVector.fromArray(FLOATS, data, i));
            b = b.add(FloatVector.fromArray(FLOATS, data, i + v));
            c = c.add(FloatVector.fromArray(FLOATS, data, i + 2 * v));
            d = d.add(FloatVector.fromArray(FLOATS, data, i + 3 * v));
        }
        return a.add(b).add(c.add(d)).lane(0);
    }

    /** Twelve chains of multiply-adds that do not wait for each other. */
    private static double multiply(float factor) {
        FloatVector x = FloatVector.broadcast(FLOATS, factor);
        FloatVector a = x;
        FloatVector b = x;
        FloatVector c = x;
        FloatVector d = x;
        FloatVector e = x;
        FloatVector f = x;
        FloatVector g = x;
        FloatVector h = x;
        FloatVector i = x;
        FloatVector j = x;
        FloatVector k = x;
        FloatVector l = x;
        for (int round = 0; round < FMA_ROUNDS; round++) {
            a = a.fma(x, x);
            b = b.fma(x, x);
            c = c.fma(x, x);
            d = d.fma(x, x);
            e = e.fma(x, x);
            f = f.fma(x, x);
            g = g.fma(x, x);
            h = h.fma(x, x);
            i = i.fma(x, x);
            j = j.fma(x, x);
            k = k.fma(x, x);
            l = l.fma(x, x);
        }
        return a.add(b)
                .add(c)
                .add(d)
                .add(e)
                .add(f)
                .add(g)
                .add(h)
                .add(i)
                .add(j)
                .add(k)
                .add(l)
                .lane(0);
    }
}
