package dev.torchane.engine.jvm;

import java.util.concurrent.TimeUnit;
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

/** One thread computes a whole linear layer of SmolLM2-135M: 576 inputs, 1,536 outputs, several layers in turn. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LinearBenchmark {

    private static final int INPUTS = 576;
    private static final int OUTPUTS = 1536;
    /** So many that they do not stay in a core's own caches: a step of decoding reads each once. */
    private static final int LAYERS = 24;

    /** How weights are stored. */
    @Param
    public WeightForm form;

    /** Rows of inputs. */
    @Param({"1", "8", "64"})
    public int rows;

    private final Kernels kernels = new VectorKernels();
    private final Panels[] layers = new Panels[LAYERS];
    private float[] x;
    private float[] out;
    private float[] scratch;
    private float[] prepared;
    private int next;

    /** Made by JMH. */
    public LinearBenchmark() {}

    /** Random weights and inputs. */
    @Setup
    public void setUp() {
        for (int layer = 0; layer < LAYERS; layer++) {
            layers[layer] = form.random(OUTPUTS, INPUTS, layer);
        }
        x = WeightForm.numbers(rows * INPUTS, 7);
        out = new float[rows * OUTPUTS];
        scratch = new float[Kernels.linearScratch(layers[0], rows)];
        prepared = new float[BlockInputs.size(layers[0], rows)];
    }

    /** Every output of one layer. */
    @Benchmark
    public float[] linear() {
        Panels w = layers[next++ % LAYERS];
        if (w instanceof Panels.Blocks blocks) {
            BlockInputs.prepare(x, 0, rows, 0, rows, blocks, prepared);
        }
        kernels.linear(x, 0, rows, w, prepared, null, 0, 0, w.count(), out, 0, OUTPUTS, scratch);
        return out;
    }

    /** Bytes of weights and floating-point operations of one call. */
    public static double[] work(String form, int rows) {
        return new double[] {WeightForm.valueOf(form).bits() / 8.0 * OUTPUTS * INPUTS, 2.0 * rows * OUTPUTS * INPUTS};
    }
}
