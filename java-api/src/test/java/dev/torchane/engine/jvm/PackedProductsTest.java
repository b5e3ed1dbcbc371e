package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Convolutions, products and attention that pack what they read: against loops over their definition, the same bits in all forms. */
class PackedProductsTest {

    private static float[] integers(int size) {
        Random random = new Random(size);
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = random.nextInt(7) - 3;
        }
        return values;
    }

    private static float[] numbers(int size) {
        Random random = new Random(size);
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static Literal constant(float[] values, int... shape) {
        return new Literal.Numbers(
                TensorType.of(DType.FP32, shape),
                java.util.stream.IntStream.range(0, values.length)
                        .mapToObj(i -> (double) values[i])
                        .toList());
    }

    /** The result in plain Java on two threads; the other forms must have its bits. */
    private static Tensor same(Supplier<OneOperation> operation) {
        EngineOptions plain = EngineOptions.defaults().withThreads(2).withVector(false);
        Tensor found = operation.get().on(plain).run().getFirst();
        for (EngineOptions other : new EngineOptions[] {plain.withThreads(1), plain.withVector(true)}) {
            assertArrayEquals(
                    found.toFloats(), operation.get().on(other).run().getFirst().toFloats(), other.toString());
        }
        return found;
    }

    @ParameterizedTest
    @CsvSource({"1,1,1,1,3", "2,1,1,1,3", "1,0,2,1,3", "1,1,1,2,3", "2,0,1,1,1", "1,0,1,1,1", "3,2,1,2,5"})
    void convolutions(int stride, int pad, int dilation, int groups, int kernel) {
        int images = 2;
        int in = 6;
        int out = 10;
        int height = 17;
        int width = 23;
        int reach = (kernel - 1) * dilation + 1;
        int rows = (height + 2 * pad - reach) / stride + 1;
        int columns = (width + 2 * pad - reach) / stride + 1;
        int each = in / groups;
        float[] x = integers(images * in * height * width);
        float[] w = integers(out * each * kernel * kernel);
        float[] bias = integers(out);
        double[] expected = new double[images * out * rows * columns];
        for (int i = 0; i < expected.length; i++) {
            int image = i / columns / rows / out;
            int o = i / columns / rows % out;
            double sum = bias[o];
            for (int k = 0; k < each * kernel * kernel; k++) {
                int channel = o / (out / groups) * each + k / kernel / kernel;
                int row = i / columns % rows * stride + k / kernel % kernel * dilation - pad;
                int column = i % columns * stride + k % kernel * dilation - pad;
                if (row >= 0 && row < height && column >= 0 && column < width) {
                    sum += x[((image * in + channel) * height + row) * width + column]
                            * w[o * each * kernel * kernel + k];
                }
            }
            expected[i] = sum;
        }
        Tensor found = same(() -> OneOperation.of("conv")
                .in("x", new int[] {images, in, height, width}, x)
                .with("weight", constant(w, out, each, kernel, kernel))
                .with("bias", constant(bias, out))
                .ints("strides", stride, stride)
                .ints("dilations", dilation, dilation)
                .text("pad_type", "custom")
                .ints("pad", pad, pad, pad, pad)
                .with("groups", groups));
        OneOperation.check(found, new int[] {images, out, rows, columns}, expected);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "2,1", "2,2", "3,1"})
    void transposedConvolutions(int stride, int groups) {
        int in = 4;
        int out = 8;
        int size = 9;
        int kernel = 3;
        int pad = 1;
        int result = (size - 1) * stride + kernel - 2 * pad;
        int each = in / groups;
        int made = out / groups;
        float[] x = integers(in * size * size);
        float[] w = integers(in * made * kernel * kernel);
        double[] expected = new double[out * result * result];
        for (int c = 0; c < in; c++) {
            for (int i = 0; i < size * size; i++) {
                for (int n = 0; n < made; n++) {
                    for (int tap = 0; tap < kernel * kernel; tap++) {
                        int row = i / size * stride + tap / kernel - pad;
                        int column = i % size * stride + tap % kernel - pad;
                        if (row >= 0 && row < result && column >= 0 && column < result) {
                            expected[((c / each * made + n) * result + row) * result + column] +=
                                    x[c * size * size + i] * w[(c * made + n) * kernel * kernel + tap];
                        }
                    }
                }
            }
        }
        Tensor found = same(() -> OneOperation.of("conv_transpose")
                .in("x", new int[] {1, in, size, size}, x)
                .with("weight", constant(w, in, made, kernel, kernel))
                .ints("strides", stride, stride)
                .text("pad_type", "custom")
                .ints("pad", pad, pad, pad, pad)
                .with("groups", groups));
        OneOperation.check(found, new int[] {1, out, result, result}, expected);
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void productsOfMatricesOverBroadcastBatches(boolean transposeY) {
        int rows = 9;
        int inner = 21;
        int columns = 37;
        float[] x = integers(3 * rows * inner);
        float[] y = integers(2 * inner * columns);
        double[] expected = new double[6 * rows * columns];
        for (int i = 0; i < expected.length; i++) {
            int column = i % columns;
            int row = i / columns % rows;
            int second = i / columns / rows / 3;
            int first = i / columns / rows % 3;
            for (int k = 0; k < inner; k++) {
                int at = transposeY ? column * inner + k : k * columns + column;
                expected[i] += x[(first * rows + row) * inner + k] * y[second * inner * columns + at];
            }
        }
        int[] shape = transposeY ? new int[] {2, 1, columns, inner} : new int[] {2, 1, inner, columns};
        Tensor found = same(() -> OneOperation.of("matmul")
                .in("x", new int[] {3, rows, inner}, x)
                .in("y", shape, y)
                .flag("transpose_x", false)
                .flag("transpose_y", transposeY));
        OneOperation.check(found, new int[] {2, 3, rows, columns}, expected);
    }

    @ParameterizedTest
    @CsvSource({"none", "added", "truth"})
    void attentionOverEveryColumn(String kind) {
        int heads = 3;
        int rows = 39;
        int width = 45;
        int dim = 10;
        int valueDim = 7;
        float[] q = numbers(heads * rows * dim);
        float[] k = numbers(heads * width * dim);
        float[] v = numbers(heads * width * valueDim);
        float[] mask = numbers(rows * width);
        for (int i = 0; kind.equals("truth") && i < mask.length; i++) {
            mask[i] = mask[i] > 0 || i % width == 0 ? 1 : 0;
        }
        double[] expected = new double[heads * rows * valueDim];
        for (int row = 0; row < heads * rows; row++) {
            double[] weights = new double[width];
            double sum = 0;
            for (int c = 0; c < width; c++) {
                double score = 0;
                for (int d = 0; d < dim; d++) {
                    score += (double) q[row * dim + d] * k[(row / rows * width + c) * dim + d];
                }
                float m = mask[row % rows * width + c];
                score = score / Math.sqrt(dim) + (kind.equals("added") ? m : 0);
                weights[c] = kind.equals("truth") && m == 0 ? 0 : Math.exp(score);
                sum += weights[c];
            }
            for (int c = 0; c < width; c++) {
                for (int d = 0; d < valueDim; d++) {
                    expected[row * valueDim + d] += weights[c] / sum * v[(row / rows * width + c) * valueDim + d];
                }
            }
        }
        TensorType maskType = TensorType.of(kind.equals("truth") ? DType.BOOL : DType.FP32, rows, width);
        Tensor found = same(() -> {
            OneOperation attention = OneOperation.of("scaled_dot_product_attention")
                    .in("query", new int[] {1, heads, rows, dim}, q)
                    .in("key", new int[] {1, heads, width, dim}, k)
                    .in("value", new int[] {1, heads, width, valueDim}, v);
            return kind.equals("none") ? attention : attention.in("attn_mask", maskType, mask);
        });
        OneOperation.check(found, new int[] {1, heads, rows, valueDim}, expected);
    }

    @Test
    void placingAlongAnAxis() {
        for (String mode : new String[] {"add", "update"}) {
            double[] expected = mode.equals("add") ? new double[] {1, 9, 3, 14} : new double[] {1, 7, 3, 10};
            OneOperation.of("scatter_along_axis")
                    .in("data", new int[] {2, 2}, 1, 2, 3, 4)
                    .in("indices", TensorType.of(DType.INT32, 2, 1), 1, -1)
                    .in("updates", new int[] {2, 1}, 7, 10)
                    .with("axis", 1)
                    .text("mode", mode)
                    .gives(new int[] {2, 2}, expected);
        }
    }
}
