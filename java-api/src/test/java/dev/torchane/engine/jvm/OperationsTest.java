package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/** Every operation against its formula in fp64, or against numbers worked out by hand. */
class OperationsTest {

    private static final float[] X = {-2.5f, -1, -0.25f, 0.5f, 1, 3};

    private static int[] shape(int... sizes) {
        return sizes;
    }

    private static void unary(String kind, DoubleUnaryOperator formula, float... x) {
        double[] expected = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            expected[i] = formula.applyAsDouble(x[i]);
        }
        OneOperation.of(kind).in("x", shape(x.length), x).gives(shape(x.length), expected);
    }

    private static double erf(double x) {
        double sum = 0;
        int steps = 20000;
        for (int i = 0; i < steps; i++) {
            double t = x * (i + 0.5) / steps;
            sum += Math.exp(-t * t) * x / steps;
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }

    @Test
    void functionsOfOneElement() {
        unary("abs", Math::abs, X);
        unary("exp", Math::exp, X);
        unary("exp2", x -> Math.pow(2, x), X);
        unary("erf", OperationsTest::erf, X);
        unary("floor", Math::floor, X);
        unary("ceil", Math::ceil, X);
        unary("round", Math::rint, X);
        unary("sign", Math::signum, X);
        unary("square", x -> x * x, X);
        unary("sin", Math::sin, X);
        unary("cos", Math::cos, X);
        unary("tanh", Math::tanh, X);
        unary("relu", x -> Math.max(0, x), X);
        unary("relu6", x -> Math.min(6, Math.max(0, x)), 7, -1, 3);
        unary("sigmoid", x -> 1 / (1 + Math.exp(-x)), X);
        unary("silu", x -> x / (1 + Math.exp(-x)), X);
        unary("softplus", x -> Math.log1p(Math.exp(x)), X);
        unary("softsign", x -> x / (1 + Math.abs(x)), X);
        unary("sqrt", Math::sqrt, 0, 2, 9);
        unary("rsqrt", x -> 1 / Math.sqrt(x), 0.5f, 2, 9);
        unary("log", Math::log, 0.5f, 2, 9);
        unary("gelu", x -> 0.5 * x * (1 + erf(x / Math.sqrt(2))), X);
    }

    @Test
    void exponentialsAtTheEnds() {
        OneOperation.of("exp")
                .in("x", shape(5), -200, -87, 88, 89, 0)
                .gives(shape(5), 0, Math.exp(-87), Math.exp(88), Double.POSITIVE_INFINITY, 1);
        unary("silu", x -> x / (1 + Math.exp(-x)), -200, 200);
    }

    @Test
    void functionsWithParameters() {
        OneOperation.of("clip")
                .in("x", shape(3), -3, 0.5f, 3)
                .number("alpha", -1)
                .number("beta", 2)
                .gives(shape(3), -1, 0.5, 2);
        OneOperation.of("leaky_relu")
                .in("x", shape(2), -3, 3)
                .number("alpha", 0.1)
                .gives(shape(2), -0.3, 3);
        OneOperation.of("elu").in("x", shape(2), -1, 3).number("alpha", 2).gives(shape(2), 2 * Math.expm1(-1), 3);
        OneOperation.of("gelu")
                .in("x", shape(1), 1.5f)
                .text("mode", "TANH_APPROXIMATION")
                .gives(shape(1), 0.75 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (1.5 + 0.044715 * 3.375))));
        OneOperation.of("rsqrt").in("x", shape(1), 3).number("epsilon", 1).gives(shape(1), 0.5);
    }

    private static void binary(String kind, DoubleBinaryOperator formula) {
        float[] x = {-2, 3, 5, 0.5f, 7, 1};
        float[] y = {2, -4, 0.5f};
        double[] expected = new double[6];
        for (int i = 0; i < 6; i++) {
            expected[i] = formula.applyAsDouble(x[i], y[i % 3]);
        }
        OneOperation.of(kind).in("x", shape(2, 3), x).in("y", shape(3), y).gives(shape(2, 3), expected);
    }

    @Test
    void functionsOfTwoElementsBroadcast() {
        binary("add", (x, y) -> x + y);
        binary("sub", (x, y) -> x - y);
        binary("mul", (x, y) -> x * y);
        binary("real_div", (x, y) -> x / y);
        binary("floor_div", (x, y) -> Math.floor(x / y));
        binary("mod", (x, y) -> x - Math.floor(x / y) * y);
        binary("maximum", Math::max);
        binary("minimum", Math::min);
        OneOperation.of("pow").in("x", shape(2), 2, 3).in("y", shape(1), 3).gives(shape(2), 8, 27);
        OneOperation.of("add")
                .in("x", shape(2, 1), 1, 2)
                .in("y", shape(1, 2), 10, 20)
                .gives(shape(2, 2), 11, 21, 12, 22);
        OneOperation.of("less").in("x", shape(3), 1, 2, 3).in("y", shape(1), 2).gives(shape(3), 1, 0, 0);
    }

    @Test
    void selectTakesNothingFromTheOtherSide() {
        OneOperation.of("select")
                .in("cond", TensorType.of(DType.BOOL, 2), 1, 0)
                .in("a", shape(2), 5, Float.NaN)
                .in("b", shape(2), Float.POSITIVE_INFINITY, 6)
                .gives(shape(2), 5, 6);
    }

    @Test
    void castsGoTowardZero() {
        Tensor found = OneOperation.of("cast")
                .in("x", shape(4), 1.9f, -1.9f, 0, 7)
                .text("dtype", "int32")
                .run()
                .getFirst();
        assertEquals(DType.INT32, found.type().dtype());
        OneOperation.check(found, shape(4), 1, -1, 0, 7);
    }

    @Test
    void movingElements() {
        float[] x = {0, 1, 2, 3, 4, 5};
        OneOperation.of("transpose").in("x", shape(2, 3), x).ints("perm", 1, 0).gives(shape(3, 2), 0, 3, 1, 4, 2, 5);
        OneOperation.of("transpose")
                .in("x", shape(1, 2, 3), x)
                .ints("perm", 2, 0, 1)
                .gives(shape(3, 1, 2), 0, 3, 1, 4, 2, 5);
        OneOperation.of("reshape").in("x", shape(2, 3), x).ints("shape", 3, -1).gives(shape(3, 2), 0, 1, 2, 3, 4, 5);
        OneOperation.of("tile")
                .in("x", shape(1, 2), 1, 2)
                .ints("reps", 2, 2)
                .gives(shape(2, 4), 1, 2, 1, 2, 1, 2, 1, 2);
        OneOperation.of("reverse").in("x", shape(2, 3), x).ints("axes", 1).gives(shape(2, 3), 2, 1, 0, 5, 4, 3);
        OneOperation.of("concat")
                .in("a", shape(2, 1), 1, 2)
                .in("b", shape(2, 2), 3, 4, 5, 6)
                .many("values", "a", "b")
                .with("axis", 1)
                .gives(shape(2, 3), 1, 3, 4, 2, 5, 6);
        OneOperation.of("concat")
                .in("a", shape(2), 1, 2)
                .in("b", shape(2), 3, 4)
                .many("values", "a", "b")
                .with("axis", 0)
                .flag("interleave", true)
                .gives(shape(4), 1, 3, 2, 4);
        OneOperation.of("stack")
                .in("a", shape(2), 1, 2)
                .in("b", shape(2), 3, 4)
                .many("values", "a", "b")
                .with("axis", 1)
                .gives(shape(2, 2), 1, 3, 2, 4);
        List<Tensor> parts = OneOperation.of("split")
                .in("x", shape(2, 3), x)
                .ints("split_sizes", 1, 2)
                .with("axis", 1)
                .run();
        OneOperation.check(parts.get(0), shape(2, 1), 0, 3);
        OneOperation.check(parts.get(1), shape(2, 2), 1, 2, 4, 5);
        OneOperation.of("pixel_shuffle")
                .in("x", shape(1, 4, 1, 1), 1, 2, 3, 4)
                .with("upscale_factor", 2)
                .gives(shape(1, 1, 2, 2), 1, 2, 3, 4);
        OneOperation.of("pixel_unshuffle")
                .in("x", shape(1, 1, 2, 2), 1, 2, 3, 4)
                .with("downscale_factor", 2)
                .gives(shape(1, 4, 1, 1), 1, 2, 3, 4);
    }

    @Test
    void padding() {
        OneOperation.of("pad")
                .in("x", shape(1, 3), 1, 2, 3)
                .ints("pad", 2, 1)
                .text("mode", "reflect")
                .gives(shape(1, 6), 3, 2, 1, 2, 3, 2);
        OneOperation.of("pad")
                .in("x", shape(1, 3), 1, 2, 3)
                .ints("pad", 2, 1)
                .text("mode", "replicate")
                .gives(shape(1, 6), 1, 1, 1, 2, 3, 3);
        OneOperation.of("pad")
                .in("x", shape(1, 2), 1, 2)
                .ints("pad", 1, 0, 0, 1)
                .number("constant_val", 9)
                .gives(shape(2, 3), 9, 9, 9, 1, 2, 9);
    }

    @Test
    void slices() {
        float[] x = {0, 1, 2, 3, 4, 5, 6, 7};
        OneOperation.of("slice_by_index")
                .in("x", shape(2, 4), x)
                .ints("begin", 0, 1)
                .ints("end", 2, 3)
                .gives(shape(2, 2), 1, 2, 5, 6);
        OneOperation.of("slice_by_index")
                .in("x", shape(2, 4), x)
                .ints("begin", 1, -1)
                .ints("end", 2, 0)
                .ints("stride", 1, -2)
                .with("end_mask", Literal.bools(false, true))
                .with("squeeze_mask", Literal.bools(true, false))
                .gives(shape(2), 7, 5);
        OneOperation.of("slice_by_index")
                .in("x", shape(2, 4), x)
                .ints("begin", 0, 5)
                .ints("end", 1, 9)
                .with("begin_mask", Literal.bools(false, true))
                .gives(shape(1, 4), 0, 1, 2, 3);
        OneOperation.of("slice_by_size")
                .in("x", shape(2, 4), x)
                .in("begin", TensorType.of(DType.INT32, 2), 1, 2)
                .ints("size", 1, 2)
                .gives(shape(1, 2), 6, 7);
    }

    @Test
    void updatesOfSlices() {
        OneOperation.of("slice_update")
                .in("x", shape(2, 3), 1, 2, 3, 4, 5, 6)
                .in("update", shape(2, 1), 8, 9)
                .ints("begin", 0, 1)
                .ints("end", 2, 2)
                .gives(shape(2, 3), 1, 8, 3, 4, 9, 6);
        OneOperation.of("slice_update")
                .in("x", shape(2, 3), 1, 2, 3, 4, 5, 6)
                .in("update", shape(2, 1), 8, 9)
                .in("begin", TensorType.of(DType.INT32, 2), 0, 2)
                .in("end", TensorType.of(DType.INT32, 2), 2, 3)
                .gives(shape(2, 3), 1, 2, 8, 4, 5, 9);
    }

    @Test
    void placesOutsideATensorAreRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> OneOperation.of("gather")
                        .in("x", shape(3, 2), new float[6])
                        .in("indices", TensorType.of(DType.INT32, 1), 3)
                        .with("axis", 0)
                        .run());
        IllegalArgumentException outside = assertThrows(
                IllegalArgumentException.class,
                () -> OneOperation.of("slice_update")
                        .in("x", shape(2, 3), 1, 2, 3, 4, 5, 6)
                        .in("update", shape(2, 1), 8, 9)
                        .in("begin", TensorType.of(DType.INT32, 2), 0, 3)
                        .in("end", TensorType.of(DType.INT32, 2), 2, 4)
                        .run());
        assertTrue(outside.getMessage().contains("axis 1"), outside.getMessage());
    }

    @Test
    void picking() {
        float[] x = {10, 11, 20, 21, 30, 31};
        OneOperation.of("gather")
                .in("x", shape(3, 2), x)
                .in("indices", TensorType.of(DType.INT32, 2), 2, -3)
                .with("axis", 0)
                .gives(shape(2, 2), 30, 31, 10, 11);
        OneOperation.of("gather_along_axis")
                .in("x", shape(3, 2), x)
                .in("indices", TensorType.of(DType.INT32, 1, 2), 1, 2)
                .with("axis", 0)
                .gives(shape(1, 2), 20, 31);
        List<Tensor> top = OneOperation.of("topk")
                .in("x", shape(1, 4), 3, 9, 5, 9)
                .with("k", 3)
                .with("axis", 1)
                .run();
        OneOperation.check(top.get(0), shape(1, 3), 9, 9, 5);
        OneOperation.check(top.get(1), shape(1, 3), 1, 3, 2);
        OneOperation.of("argsort")
                .in("x", shape(4), 3, 9, 5, 1)
                .flag("ascending", true)
                .gives(shape(4), 3, 0, 2, 1);
        OneOperation.of("one_hot")
                .in("indices", TensorType.of(DType.INT32, 2), 2, 0)
                .with("one_hot_vector_size", 3)
                .gives(shape(2, 3), 0, 0, 1, 1, 0, 0);
        OneOperation.of("band_part")
                .in("x", shape(2, 3), 1, 2, 3, 4, 5, 6)
                .with("lower", -1)
                .with("upper", 0)
                .gives(shape(2, 3), 1, 0, 0, 4, 5, 0);
    }

    private static OneOperation reduce(String kind) {
        return OneOperation.of(kind).in("x", shape(2, 3), 1, 2, 3, -4, 5, 6);
    }

    @Test
    void reductions() {
        reduce("reduce_sum").ints("axes", 1).flag("keep_dims", true).gives(shape(2, 1), 6, 7);
        reduce("reduce_sum").ints("axes", 0).gives(shape(3), -3, 7, 9);
        reduce("reduce_mean").ints("axes", -1).gives(shape(2), 2, 7 / 3.0);
        reduce("reduce_max").ints("axes", 0, 1).flag("keep_dims", true).gives(shape(1, 1), 6);
        reduce("reduce_min").ints("axes", 1).gives(shape(2), 1, -4);
        reduce("reduce_prod").ints("axes", 1).gives(shape(2), 6, -120);
        reduce("reduce_l1_norm").ints("axes", 1).gives(shape(2), 6, 15);
        reduce("reduce_l2_norm").ints("axes", 1).gives(shape(2), Math.sqrt(14), Math.sqrt(77));
        reduce("reduce_sum_square").ints("axes", 1).gives(shape(2), 14, 77);
        reduce("reduce_log_sum_exp")
                .ints("axes", 1)
                .gives(
                        shape(2),
                        Math.log(Math.exp(1) + Math.exp(2) + Math.exp(3)),
                        Math.log(Math.exp(-4) + Math.exp(5) + Math.exp(6)));
        reduce("reduce_argmax").with("axis", 1).gives(shape(2), 2, 2);
        OneOperation.of("cumsum")
                .in("x", shape(2, 3), 1, 2, 3, 4, 5, 6)
                .with("axis", 1)
                .flag("exclusive", true)
                .flag("reverse", true)
                .gives(shape(2, 3), 5, 3, 0, 11, 6, 0);
    }

    @Test
    void productsOfMatrices() {
        float[] x = {1, 2, 3, 4};
        float[] y = {5, 6, 7, 8};
        for (boolean tx : new boolean[] {false, true}) {
            for (boolean ty : new boolean[] {false, true}) {
                double[] expected = new double[4];
                for (int i = 0; i < 8; i++) {
                    int r = i / 4;
                    int c = i / 2 % 2;
                    int k = i % 2;
                    expected[r * 2 + c] += x[tx ? k * 2 + r : r * 2 + k] * y[ty ? c * 2 + k : k * 2 + c];
                }
                OneOperation.of("matmul")
                        .in("x", shape(2, 2), x)
                        .in("y", shape(2, 2), y)
                        .flag("transpose_x", tx)
                        .flag("transpose_y", ty)
                        .gives(shape(2, 2), expected);
            }
        }
        OneOperation.of("matmul")
                .in("x", shape(2, 1, 1, 2), 1, 2, 3, 4)
                .in("y", shape(2, 2, 1), 1, 0, 0, 1)
                .gives(shape(2, 2, 1, 1), 1, 2, 3, 4);
    }

    @Test
    void linearLayersOfEveryEncoding() {
        float[] w = {1, -2, 3, 4, 5, -6};
        OneOperation plain = linear();
        plain.with("weight", plain.weights.fp32(plain.f, "w", w, 3, 2)).gives(shape(2, 3), 3, 11, -7, -8, 8, -50);
        OneOperation half = linear();
        half.with("weight", half.weights.fp16(half.f, "w", w, 3, 2)).gives(shape(2, 3), 3, 11, -7, -8, 8, -50);
        OneOperation bytes = linear();
        Value data = bytes.f.constant("d", bytes.weights.add(TensorType.of(DType.INT8, 3, 2), 2, -4, 6, 8, 5, -6));
        Value scale = bytes.f.constant("s", bytes.weights.add(TensorType.of(DType.FP32, 3, 1), 0.5f, 0.5f, 1));
        bytes.with("weight", bytes.f.blockwiseShiftScale("w", data, scale)).gives(shape(2, 3), 3, 11, -7, -8, 8, -50);
        OneOperation blocks = linear();
        data = blocks.f.constant("d", blocks.weights.add(TensorType.of(DType.INT4, 3, 2), 1, -1, 3, 2, 5, -3));
        scale = blocks.f.constant("s", blocks.weights.add(TensorType.of(DType.FP32, 3, 2), 1, 2, 1, 2, 1, 2));
        blocks.with("weight", blocks.f.blockwiseShiftScale("w", data, scale)).gives(shape(2, 3), 3, 11, -7, -8, 8, -50);
        OneOperation palette = linear();
        Value indices =
                palette.f.constant("i", palette.weights.add(TensorType.of(DType.UINT4, 3, 2), 0, 1, 2, 3, 4, 5));
        float[] table = new float[16];
        System.arraycopy(w, 0, table, 0, 6);
        Value lut = palette.f.constant("t", palette.weights.add(TensorType.of(DType.FP32, 1, 1, 16, 1), table));
        palette.with("weight", palette.f.apply("constexpr_lut_to_dense", "w", Map.of("indices", indices, "lut", lut)))
                .gives(shape(2, 3), 3, 11, -7, -8, 8, -50);
    }

    private static OneOperation linear() {
        OneOperation operation = OneOperation.of("linear").in("x", shape(2, 2), 1, -1, -4, 2);
        Literal bias = new Literal.Numbers(TensorType.of(DType.FP32, 3), List.of(0.0, 12.0, -18.0));
        Value zero = operation.f.constant("bias", bias);
        operation.with("bias", zero);
        return operation;
    }

    @Test
    void norms() {
        double s = Math.sqrt(1.25 + 0.5);
        OneOperation.of("layer_norm")
                .in("x", shape(1, 4), 1, 2, 3, 4)
                .ints("axes", -1)
                .with("gamma", new Literal.Numbers(TensorType.of(DType.FP32, 4), List.of(1.0, 1.0, 2.0, 1.0)))
                .with("beta", new Literal.Numbers(TensorType.of(DType.FP32, 4), List.of(0.0, 0.0, 0.0, 7.0)))
                .number("epsilon", 0.5)
                .gives(shape(1, 4), -1.5 / s, -0.5 / s, 1 / s, 1.5 / s + 7);
        OneOperation.of("softmax")
                .in("x", shape(2, 2), 0, 5, 1, 5)
                .with("axis", 0)
                .gives(shape(2, 2), 1 / (1 + Math.E), 0.5, Math.E / (1 + Math.E), 0.5);
        OneOperation.of("instance_norm")
                .in("x", shape(1, 2, 1, 2), 1, 3, 5, 5)
                .number("epsilon", 0.25)
                .gives(shape(1, 2, 1, 2), -1 / Math.sqrt(1.25), 1 / Math.sqrt(1.25), 0, 0);
    }

    @Test
    void attentionWithATrueOrFalseMask() {
        OneOperation.of("scaled_dot_product_attention")
                .in("query", shape(1, 2, 1), 1, 2)
                .in("key", shape(1, 2, 1), 1, 3)
                .in("value", shape(1, 2, 1), 10, 20)
                .in("attn_mask", TensorType.of(DType.BOOL, 2, 2), 1, 0, 1, 1)
                .gives(shape(1, 2, 1), 10, 10 + 10 / (1 + Math.exp(-4)));
    }
}
