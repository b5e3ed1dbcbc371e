package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.StateStorage;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Runs every kernel on fixed data and answers the bits of all results. */
public final class KernelProbe {

    private final Kernels kernels;
    private final Random random = new Random(11);
    private final ByteArrayOutputStream bits = new ByteArrayOutputStream();

    private KernelProbe(Kernels kernels) {
        this.kernels = kernels;
    }

    /** The bits of all results of one form of the kernels. */
    public static byte[] run(boolean vector) {
        KernelProbe probe = new KernelProbe(vector ? new VectorKernels() : new ScalarKernels());
        probe.linear();
        probe.attention();
        probe.rows();
        for (StateStorage states : StateStorage.values()) {
            probe.model(
                    new TinyLlama(DType.FP32),
                    EngineOptions.defaults().withThreads(1).withVector(vector).withStates(states));
        }
        return probe.bits.toByteArray();
    }

    private float[] numbers(int size) {
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private void record(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length);
        for (float value : values) {
            bytes.putFloat(value);
        }
        bits.writeBytes(bytes.array());
    }

    private void linear() {
        for (int outputs : new int[] {5, 70}) {
            // More inputs than are widened at a time, and a number that nothing divides.
            plain(outputs, 211).forEach(this::linear);
            compressed(outputs, 224).forEach(this::linear);
        }
    }

    private void linear(Panels panels) {
        int outputs = panels.outputs();
        float[] bias = numbers(outputs + 3);
        for (int rows : new int[] {1, 3, 13}) {
            float[] x = numbers(rows * panels.inputs() + 2);
            float[] out = new float[rows * (outputs + 1) + 4];
            float[] scratch = new float[Kernels.linearScratch(panels, rows)];
            int middle = panels.count() / 2;
            float[] prepared = new float[BlockInputs.size(panels, rows)];
            if (panels instanceof Panels.Blocks blocks) {
                BlockInputs.prepare(x, 2, rows, 0, rows, blocks, prepared);
            }
            kernels.linear(x, 2, rows, panels, prepared, bias, 3, 0, middle, out, 4, outputs + 1, scratch);
            kernels.linear(x, 2, rows, panels, prepared, null, 0, middle, panels.count(), out, 4, outputs + 1, scratch);
            record(out);
        }
    }

    private byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private List<Panels> plain(int outputs, int inputs) {
        int size = Panels.length(outputs, inputs);
        float[] floats = numbers(size);
        short[] halves = new short[size];
        for (int i = 0; i < size; i++) {
            halves[i] = Float.floatToFloat16(floats[i] * (i % 5 == 0 ? 1e-6f : 1));
        }
        return List.of(
                new Panels.I8(outputs, inputs, bytes(size), numbers(outputs)),
                new Panels.F16(outputs, inputs, halves),
                new Panels.F32(outputs, inputs, floats));
    }

    private List<Panels> compressed(int outputs, int inputs) {
        int size = Panels.length(outputs, inputs);
        int panels = Math.ceilDiv(outputs, Lanes.COUNT);
        int blocks = panels * inputs / 32 * Lanes.COUNT;
        short[] d = halves(numbers(blocks));
        BlockFactors minima = new BlockFactors.Halves(32, inputs / 32, 0, d, halves(numbers(blocks)));
        BlockFactors zero = new BlockFactors.Floats(32, inputs / 32, 8, numbers(blocks));
        BlockFactors nested =
                new BlockFactors.Nested(16, inputs / 16, 4, 2, d, bytes(2 * blocks), new short[0], new byte[0]);
        float[] entries = numbers(panels * 2 * Panels.Palette.ENTRIES);
        return List.of(
                new Panels.Blocks(outputs, inputs, false, bytes(size), minima),
                new Panels.Blocks(outputs, inputs, true, bytes(size), zero),
                new Panels.Blocks(outputs, inputs, true, bytes(size), nested),
                new Panels.Palette(outputs, inputs, bytes(size), entries));
    }

    private void attention() {
        for (int dim : new int[] {8, 64, 80, 128}) {
            int width = 300;
            float[] keys = numbers(width * dim);
            float[] values = numbers(width * dim);
            for (StateMemory memory : StateMemory.values()) {
                AttentionPart part = new AttentionPart();
                part.dim = dim;
                part.keys = stored(memory, keys, dim);
                part.values = stored(memory, values, dim);
                for (int count : new int[] {1, 5, 35, 70, 133, 256}) {
                    part.columns = Arrays.copyOf(
                            random.ints(0, width)
                                    .distinct()
                                    .limit(count)
                                    .sorted()
                                    .toArray(),
                            count + 1);
                    part.mask = numbers(width);
                    attention(part, 1, count);
                    part.columns = IntStream.range(3, 4 + count).toArray();
                    part.mask = null;
                    attention(part, 1, count);
                    // Rows of which each sees some columns more than the one before.
                    attention(part, 1 + count % 4, count);
                }
            }
        }
    }

    /** Queries whose rows see a column less for each row behind them; the count of each stands behind the columns. */
    private void attention(AttentionPart part, int rows, int count) {
        part.rows = rows;
        part.heads = 1 + count % 5;
        part.rowStride = part.dim + 4;
        part.headStride = rows * part.rowStride;
        part.q = numbers(part.heads * part.headStride);
        part.scale = 0.3f;
        int[] columns = Arrays.copyOf(part.columns, count + rows);
        for (int row = 0; row < rows; row++) {
            columns[count + row] = count - 7 * (rows - 1 - row);
        }
        part.columns = columns;
        part.countsOffset = count;
        part.countsStride = 1;
        part.out = new float[part.queries() * AttentionPart.stride(part.dim)];
        kernels.attention(part, new float[part.scratch()]);
        record(part.out);
    }

    private static Object stored(StateMemory memory, float[] values, int dim) {
        Object stored = memory.allocate(TensorType.of(DType.FP32, values.length / dim, dim));
        StateMemory.store(values, 0, values.length, stored, 0, dim);
        return stored;
    }

    private static short[] halves(float[] values) {
        short[] halves = new short[values.length];
        for (int i = 0; i < values.length; i++) {
            halves[i] = Float.floatToFloat16(values[i]);
        }
        return halves;
    }

    private void rows() {
        for (int size : new int[] {48, 51}) {
            float[] x = numbers(size);
            float[] out = new float[size];
            kernels.rmsNorm(x, 0, numbers(size), 0, 1e-5f, size, out, 0, new float[64]);
            record(out);
            x[3] = 200;
            x[4] = -200;
            x[5] = Float.NaN;
            x[6] = Float.POSITIVE_INFINITY;
            x[7] = Float.NEGATIVE_INFINITY;
            kernels.swiglu(x, 0, numbers(size), 0, size, out, 0);
            for (float value : out) {
                record(Float.isNaN(value) ? Float.NaN : value);
            }
        }
    }

    private void model(TinyLlama model, EngineOptions options) {
        try (LoadedProgram program = model.load(options);
                State state = program.function("prefill").newState()) {
            float[][] tokens = TinyLlama.tokens(16);
            record(program.function("prefill")
                    .run(TinyLlama.inputs(tokens, 0, 16, 15), state, RowRange.ALL)
                    .get("logits")
                    .toFloats());
            for (String name : new String[] {"key_cache", "value_cache"}) {
                record(state.tensor(name).toFloats());
            }
        }
    }
}
