package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Convolutions, pooling and resizing against loops over their definition. */
class ImagesTest {

    private static float[] numbers(int size) {
        Random random = new Random(size);
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = random.nextInt(9) - 4;
        }
        return values;
    }

    private static Literal literal(float[] values, int... shape) {
        List<Double> numbers = new ArrayList<>();
        for (float value : values) {
            numbers.add((double) value);
        }
        return new Literal.Numbers(TensorType.of(DType.FP32, shape), numbers);
    }

    @Test
    void convolutionsWithStridesDilationsPaddingAndGroups() {
        for (int groups : new int[] {1, 2}) {
            int in = 4;
            int out = 6;
            int size = 7;
            float[] x = numbers(in * size * size);
            float[] w = numbers(out * in / groups * 9);
            float[] bias = numbers(out);
            int result = (size + 2 - 5) / 2 + 1;
            double[] expected = new double[out * result * result];
            for (int o = 0; o < out; o++) {
                for (int p = 0; p < result * result; p++) {
                    double sum = bias[o];
                    for (int c = 0; c < in / groups; c++) {
                        for (int tap = 0; tap < 9; tap++) {
                            int row = p / result * 2 + tap / 3 * 2 - 1;
                            int column = p % result * 2 + tap % 3 * 2 - 1;
                            if (row >= 0 && row < size && column >= 0 && column < size) {
                                int channel = o / (out / groups) * (in / groups) + c;
                                sum += x[(channel * size + row) * size + column] * w[(o * in / groups + c) * 9 + tap];
                            }
                        }
                    }
                    expected[o * result * result + p] = sum;
                }
            }
            OneOperation.of("conv")
                    .in("x", new int[] {1, in, size, size}, x)
                    .with("weight", literal(w, out, in / groups, 3, 3))
                    .with("bias", literal(bias, out))
                    .ints("strides", 2, 2)
                    .ints("dilations", 2, 2)
                    .text("pad_type", "custom")
                    .ints("pad", 1, 1, 1, 1)
                    .with("groups", groups)
                    .gives(new int[] {1, out, result, result}, expected);
        }
    }

    @Test
    void pointwiseConvolutions() {
        OneOperation.of("conv")
                .in("x", new int[] {1, 2, 1, 3}, 1, 2, 3, 10, 20, 30)
                .with("weight", literal(new float[] {1, 0, 0, 1, 2, -1}, 3, 2, 1, 1))
                .with("bias", literal(new float[] {0, 0, 5}, 3))
                .gives(new int[] {1, 3, 1, 3}, 1, 2, 3, 10, 20, 30, -3, -11, -19);
        OneOperation strided = OneOperation.of("conv")
                .in("x", new int[] {1, 1, 1, 4}, 1, 2, 3, 4)
                .with("weight", literal(new float[] {2}, 1, 1, 1, 1))
                .ints("strides", 1, 2);
        strided.gives(new int[] {1, 1, 1, 2}, 2, 6);
    }

    @Test
    void transposedConvolutions() {
        OneOperation.of("conv_transpose")
                .in("x", new int[] {1, 1, 2}, 1, 10)
                .with("weight", literal(new float[] {1, 2, 3}, 1, 1, 3))
                .ints("strides", 2)
                .gives(new int[] {1, 1, 5}, 1, 2, 13, 20, 30);
    }

    @Test
    void pooling() {
        float[] x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        OneOperation.of("max_pool")
                .in("x", new int[] {1, 1, 3, 3}, x)
                .ints("kernel_sizes", 2, 2)
                .ints("strides", 1, 1)
                .text("pad_type", "valid")
                .gives(new int[] {1, 1, 2, 2}, 5, 6, 8, 9);
        OneOperation.of("avg_pool")
                .in("x", new int[] {1, 1, 3, 3}, x)
                .ints("kernel_sizes", 2, 2)
                .ints("strides", 2, 2)
                .text("pad_type", "custom")
                .ints("pad", 1, 0, 1, 0)
                .flag("exclude_padding_from_average", true)
                .gives(new int[] {1, 1, 2, 2}, 1, 2.5, 5.5, 7);
    }

    @Test
    void resizing() {
        OneOperation.of("upsample_nearest_neighbor")
                .in("x", new int[] {1, 1, 1, 2}, 3, 4)
                .with("scale_factor_height", 2)
                .with("scale_factor_width", 2)
                .gives(new int[] {1, 1, 2, 4}, 3, 3, 4, 4, 3, 3, 4, 4);
        OneOperation.of("upsample_bilinear")
                .in("x", new int[] {1, 1, 1, 2}, 0, 4)
                .with("scale_factor_height", 1)
                .with("scale_factor_width", 2)
                .flag("align_corners", false)
                .gives(new int[] {1, 1, 1, 4}, 0, 1, 3, 4);
    }
}
