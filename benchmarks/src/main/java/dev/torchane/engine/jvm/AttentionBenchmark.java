package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
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

    /** How keys and values are stored. */
    @Param
    public StateForm form;

    /** Tokens that are looked at. */
    @Param({"128", "4096"})
    public int context;

    private final Kernels kernels = new VectorKernels();
    private final Object[] keys = new Object[LAYERS];
    private final Object[] values = new Object[LAYERS];
    private final AttentionPart part = new AttentionPart();
    private float[] scratch;
    private int next;

    /** How keys and values are stored. */
    public enum StateForm {
        /** 32 bits. */
        FP32,
        /** 16 bits. */
        FP16,
        /** 8 bits and a factor for each row. */
        INT8;

        private StateMemory memory() {
            return StateMemory.valueOf(name());
        }

        private Object random(int count, int seed) {
            Object rows = memory().allocate(TensorType.of(DType.FP32, count / DIM, DIM));
            StateMemory.store(WeightForm.numbers(count, seed), 0, count, rows, 0, DIM);
            return rows;
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
        part.q = WeightForm.numbers(QUERIES * DIM, 1);
        part.rows = 1;
        part.heads = QUERIES;
        part.headStride = DIM;
        part.scale = 0.125f;
        part.columns = IntStream.rangeClosed(0, context).toArray();
        part.countsOffset = context;
        part.dim = DIM;
        part.out = new float[QUERIES * AttentionPart.stride(DIM)];
        scratch = new float[part.scratch()];
    }

    /** Three heads over all columns, in parts that are not joined here. */
    @Benchmark
    public float[] attention() {
        int layer = next++ % LAYERS;
        part.keys = keys[layer];
        part.values = values[layer];
        for (int from = 0; from < context; from += AttentionPart.COLUMNS) {
            part.from = from;
            kernels.attention(part, scratch);
        }
        return part.out;
    }

    /** Bytes of keys and values and floating-point operations of one call; the exponentials are not counted. */
    public static double[] work(String form, int context) {
        TensorType rows = TensorType.of(DType.FP32, context, DIM);
        double bytes = StateForm.valueOf(form).memory().type(rows).bytes();
        return new double[] {2 * bytes, 4.0 * QUERIES * context * DIM};
    }
}
