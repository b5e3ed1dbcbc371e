package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.weights.WeightType;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights that stay compressed give what their values in fp32 give, and the same bits in all forms of the kernels. */
class CompressedWeightsTest {

    private static final int OUTPUTS = 40;
    private static final int INPUTS = 512;
    private static final float TOLERANCE = 5e-6f;

    private final Random random = new Random(3);
    private final TestWeights weights = new TestWeights();

    @ParameterizedTest
    @EnumSource(
            value = WeightType.class,
            names = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"})
    void blocksOfAGgufHaveTheReferenceValues(WeightType kind) {
        byte[] data = TestWeights.blocks(kind, OUTPUTS * INPUTS, random);
        TensorType type = TensorType.of(DType.UINT8, data.length);
        WeightRef ref = new WeightRef.Ggml(matrix(), weights.add(type, data), kind);
        assertInstanceOf(Panels.Blocks.class, store().panels(ref));
        compare(ref);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32, INPUTS})
    void fourBitsInBlocksWithAnyScales(int block) {
        for (boolean half : new boolean[] {false, true}) {
            Literal.Blob data = weights.add(TensorType.of(DType.INT4, OUTPUTS, INPUTS), integers(-8, 8));
            compareBlocks(data, block, half);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 128})
    void eightBitsInBlocks(int block) {
        compareBlocks(weights.add(TensorType.of(DType.INT8, OUTPUTS, INPUTS), integers(-128, 128)), block, false);
    }

    private void compareBlocks(Literal.Blob data, int block, boolean half) {
        float[] scales = new float[OUTPUTS * INPUTS / block];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = half ? random.nextInt(1, 100) / 64f : random.nextFloat();
        }
        TensorType type = TensorType.of(half ? DType.FP16 : DType.FP32, OUTPUTS, INPUTS / block);
        WeightRef ref = new WeightRef.Blockwise(matrix(), data, weights.add(type, scales), Optional.empty());
        Panels.Blocks panels = assertInstanceOf(Panels.Blocks.class, store().panels(ref));
        assertTrue(half == panels.factors() instanceof BlockFactors.Halves);
        compare(ref);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 20, OUTPUTS})
    void palettesOfGroupsOfOutputs(int group) {
        Literal.Blob indices = weights.add(TensorType.of(DType.UINT4, OUTPUTS, INPUTS), integers(0, 16));
        float[] tables = new float[OUTPUTS / group * 16];
        for (int i = 0; i < tables.length; i++) {
            tables[i] = (float) random.nextGaussian();
        }
        Literal.Blob lut = weights.add(TensorType.of(DType.FP32, OUTPUTS / group, 1, 16, 1), tables);
        WeightRef ref = new WeightRef.Palette(matrix(), indices, lut, 0);
        assertTrue((group % 8 == 0) == store().panels(ref) instanceof Panels.Palette);
        compare(ref);
    }

    private static TensorType matrix() {
        return TensorType.of(DType.FP32, OUTPUTS, INPUTS);
    }

    private WeightStore store() {
        return new WeightStore(weights, Numerics.FP32);
    }

    private float[] integers(int from, int to) {
        float[] values = new float[OUTPUTS * INPUTS];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextInt(from, to);
        }
        return values;
    }

    private void compare(WeightRef ref) {
        Panels compressed = store().panels(ref);
        Panels values = WeightStore.panels(store().floats(ref), 0, OUTPUTS, INPUTS);
        for (int rows : new int[] {1, 2, 8, 19}) {
            float[] expected = product(new ScalarKernels(), values, rows);
            float[] scalar = product(new ScalarKernels(), compressed, rows);
            assertArrayEquals(scalar, product(new VectorKernels(), compressed, rows));
            // Blocks are summed in another order than their values would be.
            assertArrayEquals(
                    expected, scalar, compressed instanceof Panels.Blocks ? TOLERANCE * largest(expected) : 0);
        }
    }

    private static float largest(float[] values) {
        float largest = 0;
        for (float value : values) {
            largest = Math.max(largest, Math.abs(value));
        }
        return largest;
    }

    private static float[] product(Kernels kernels, Panels w, int rows) {
        float[] x = new float[rows * INPUTS];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) Math.sin(i);
        }
        float[] out = new float[rows * OUTPUTS];
        float[] scratch = new float[Kernels.linearScratch(w, rows)];
        float[] prepared = new float[BlockInputs.size(w, rows)];
        if (w instanceof Panels.Blocks blocks) {
            BlockInputs.prepare(x, 0, rows, 0, rows, blocks, prepared);
        }
        kernels.linear(x, 0, rows, w, prepared, null, 0, 0, w.count(), out, 0, OUTPUTS, scratch);
        return out;
    }
}
