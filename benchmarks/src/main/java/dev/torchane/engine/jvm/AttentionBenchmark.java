package dev.torchane.engine.jvm;

import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One thread computes the heads of SmolLM2-135M that share keys, three of 64, for one row; several layers in turn. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class AttentionBenchmark {

    private static final int QUERIES = 3;
    private static final int DIM = 64;
    private static final int LAYERS = 30;

    /** Whether keys and values are fp16. */
    @Param
    public StateForm form;

    /** Tokens that are looked at. */
    @Param({"128", "4096"})
    public int context;

    private final Kernels kernels = new VectorKernels();
    private final Object[] keys = new Object[LAYERS];
    private final Object[] values = new Object[LAYERS];
    private final float[] q = WeightForm.numbers(QUERIES * DIM, 1);
    private final float[] out = new float[QUERIES * DIM];
    private int[] columns;
    private float[] scratch;
    private int next;

    /** How keys and values are stored. */
    public enum StateForm {
        /** 32 bits. */
        FP32,
        /** 16 bits. */
        FP16;

        private Object random(int count, int seed) {
            return this == FP32 ? WeightForm.numbers(count, seed) : WeightForm.halves(count, seed);
        }
    }

    /** Made by JMH. */
    public AttentionBenchmark() {}

    /** Random keys, values and queries. */
    @Setup
    public void setUp() {
        for (int layer = 0; layer < LAYERS; layer++) {
            keys[layer] = form.random(context * DIM, layer);
            values[layer] = form.random(context * DIM, LAYERS + layer);
        }
        columns = IntStream.range(0, context).toArray();
        scratch = new float[Kernels.attentionScratch(QUERIES, context, DIM)];
    }

    /** Three heads over all columns. */
    @Benchmark
    public float[] attention() {
        int layer = next++ % LAYERS;
        kernels.attention(
                q,
                0,
                QUERIES,
                DIM,
                0.125f,
                keys[layer],
                0,
                values[layer],
                0,
                null,
                0,
                columns,
                0,
                context,
                DIM,
                out,
                0,
                scratch);
        return out;
    }

    /** Bytes of keys and values and floating-point operations of one call; the exponentials are not counted. */
    public static double[] work(String form, int context) {
        int bytes = StateForm.valueOf(form) == StateForm.FP32 ? 4 : 2;
        return new double[] {2.0 * bytes * context * DIM, 4.0 * QUERIES * context * DIM};
    }
}
