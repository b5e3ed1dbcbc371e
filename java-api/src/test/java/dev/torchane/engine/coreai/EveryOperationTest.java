package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.OperationTable;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.BundledProgram;
import dev.torchane.testing.OnCoreAi;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every operation of the table, some in several forms, on Core AI and on the jvm engine: one program with all of them. */
@Tag("full")
@ExtendWith(OnCoreAi.class)
class EveryOperationTest {

    private final Random random = new Random(9);
    private final ProgramBuilder program = ProgramBuilder.create();
    private final FunctionBuilder f = program.function("main");
    private final Map<String, Tensor> inputs = new LinkedHashMap<>();
    private final List<Value> outputs = new ArrayList<>();
    private final Set<String> tried = new TreeSet<>();
    private DType dtype = DType.FP32;

    private Value in(int... shape) {
        return between(-2, 2, shape);
    }

    /** Numbers between two, in steps of 1/32, which every type holds. */
    private Value between(double least, double most, int... shape) {
        TensorType type = TensorType.of(dtype, shape);
        String name = "in" + inputs.size();
        Tensor tensor = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            tensor.set(i, Math.round((least + (most - least) * random.nextDouble()) * 32) / 32f);
        }
        inputs.put(name, tensor);
        return f.input(name, type);
    }

    private Value places(int size, int... shape) {
        TensorType type = TensorType.of(DType.INT32, shape);
        String name = "in" + inputs.size();
        Tensor tensor = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            tensor.set(i, random.nextInt(size));
        }
        inputs.put(name, tensor);
        return f.input(name, type);
    }

    private void op(String kind, Object... operands) {
        tried.add(kind);
        Map<String, Operand> given = new LinkedHashMap<>();
        for (int i = 0; i < operands.length; i += 2) {
            Operand operand = switch (operands[i + 1]) {
                case Operand value -> value;
                case Integer value -> Literal.int32(value);
                case Double value -> Literal.scalar(dtype, value);
                case Boolean value -> Literal.bool(value);
                case String value -> Literal.text(value);
                case int[] values -> Literal.int32s(values);
                default -> throw new IllegalArgumentException(String.valueOf(operands[i + 1]));
            };
            given.put((String) operands[i], operand);
        }
        for (Value result : f.operation(kind, kind, given)) {
            // Truth values are compared as numbers.
            outputs.add(result.type().dtype() == DType.BOOL ? f.cast("", result, DType.INT32) : result);
        }
    }

    private static int[] ints(int... values) {
        return values;
    }

    private void elements() {
        for (String kind : List.of(
                "abs",
                "atan",
                "ceil",
                "cos",
                "cosh",
                "erf",
                "exp",
                "exp2",
                "floor",
                "identity",
                "relu",
                "relu6",
                "round",
                "sigmoid",
                "sign",
                "silu",
                "sin",
                "sinh",
                "softplus",
                "softsign",
                "square",
                "tanh")) {
            op(kind, "x", in(2, 5));
        }
        for (String kind : List.of("acos", "asin", "atanh", "tan")) {
            op(kind, "x", between(-0.8, 0.8, 2, 5));
        }
        for (String kind : List.of("sqrt", "rsqrt", "log", "inverse")) {
            op(kind, "x", between(0.5, 3, 2, 5));
        }
        for (String kind : List.of("add", "sub", "mul", "maximum", "minimum")) {
            op(kind, "x", in(2, 3, 4), "y", in(3, 1));
        }
        for (String kind : List.of("real_div", "floor_div", "mod", "pow")) {
            op(kind, "x", between(0.5, 4, 2, 4), "y", between(0.75, 2, 4));
        }
        op("mod", "x", between(-4, 4, 2, 4), "y", between(0.75, 2, 4));
        for (String kind : List.of("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")) {
            op(kind, "x", f.unary("round", "", in(3, 4)), "y", f.unary("round", "", in(4)));
        }
        for (String kind : List.of("logical_and", "logical_or", "logical_xor")) {
            op(kind, "x", truth(3, 4), "y", truth(3, 4));
        }
        op("logical_not", "x", truth(3, 4));
        op("select", "cond", truth(2, 4), "a", in(2, 4), "b", in(2, 4));
        op("clip", "x", in(2, 5), "alpha", -0.5, "beta", 1.0);
        op("threshold", "x", in(2, 5), "alpha", 0.25);
        op("leaky_relu", "x", in(2, 5), "alpha", 0.25);
        op("elu", "x", in(2, 5), "alpha", 0.5);
        op("sigmoid_hard", "x", in(2, 5), "alpha", 0.25, "beta", 0.5);
        op("scaled_tanh", "x", in(2, 5), "alpha", 2.0, "beta", 0.5);
        op("linear_activation", "x", in(2, 5), "alpha", 2.0, "beta", 0.5);
        op("prelu", "x", in(1, 2, 3), "alpha", numbers(0.25, 0.5));
        for (String mode : List.of("EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")) {
            op("gelu", "x", in(2, 5), "mode", mode);
        }
        op("cast", "x", in(2, 5), "dtype", "int32");
        op("cast", "x", in(2, 5), "dtype", "bool");
    }

    private Literal numbers(double... values) {
        return new Literal.Numbers(
                TensorType.of(dtype, values.length),
                java.util.Arrays.stream(values).boxed().toList());
    }

    private Literal matrix(int rows, int columns) {
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < rows * columns; i++) {
            values.add((random.nextInt(64) - 32) / 16.0);
        }
        return new Literal.Numbers(TensorType.of(dtype, rows, columns), values);
    }

    private Value truth(int... shape) {
        return f.binary("greater", "", in(shape), in(shape));
    }

    private void reductions() {
        for (String kind : List.of("sum", "mean", "max", "min", "sum_square", "l1_norm", "l2_norm", "log_sum_exp")) {
            op("reduce_" + kind, "x", in(2, 3, 4), "axes", ints(0, -1), "keep_dims", false);
        }
        op("reduce_prod", "x", between(0.5, 1.5, 2, 3, 4), "axes", ints(1), "keep_dims", true);
        op("reduce_log_sum", "x", between(0.5, 1.5, 2, 3, 4), "axes", ints(1), "keep_dims", true);
        op("reduce_sum", "x", in(2, 3));
        op("reduce_argmax", "x", in(3, 20), "axis", 1);
        op("reduce_argmin", "x", in(3, 20), "axis", -1, "keep_dims", true);
        op("softmax", "x", in(2, 3, 4), "axis", 1);
        op("layer_norm", "x", in(2, 3), "axes", ints(-1), "gamma", in(3), "beta", in(3), "epsilon", 1e-3);
        op("instance_norm", "x", in(1, 2, 3, 4), "gamma", numbers(1, 2), "beta", numbers(0.5, 0), "epsilon", 1e-3);
        op("batch_norm", "x", in(1, 2, 3, 4), "mean", numbers(0.25, 0), "variance", numbers(1, 2), "epsilon", 1e-3);
        op("l2_norm", "x", in(1, 2, 3, 4), "epsilon", 1e-3);
        op("cumsum", "x", in(2, 5), "axis", 1);
        op("cumsum", "x", in(2, 5), "axis", 0, "exclusive", true, "reverse", true);
    }

    private void products() {
        op("linear", "x", in(2, 3, 4), "weight", matrix(2, 4), "bias", numbers(1, -1));
        op("matmul", "x", in(2, 1, 3, 4), "y", in(3, 5, 4), "transpose_y", true);
        op("matmul", "x", in(4), "y", in(2, 4, 3));
        op(
                "scaled_dot_product_attention",
                "query",
                in(1, 2, 3, 4),
                "key",
                in(1, 2, 5, 4),
                "value",
                in(1, 2, 5, 6),
                "attn_mask",
                in(3, 5));
    }

    private void shapes() {
        op("reshape", "x", in(2, 6), "shape", ints(3, -1));
        op("transpose", "x", in(2, 3, 4), "perm", ints(2, 0, 1));
        op("expand_dims", "x", in(2, 3), "axes", ints(0, -1));
        op("squeeze", "x", in(1, 3, 1), "axes", ints(0));
        op("concat", "values", Operand.many(in(2, 3), in(2, 1)), "axis", 1);
        op("concat", "values", Operand.many(in(2, 3), in(2, 3)), "axis", 1, "interleave", true);
        op("stack", "values", Operand.many(in(2, 3), in(2, 3)), "axis", 1);
        op("split", "x", in(2, 6), "split_sizes", ints(1, 3, 2), "axis", 1);
        op("tile", "x", in(2, 3), "reps", ints(2, 3));
        for (String mode : List.of("constant", "reflect", "replicate")) {
            op("pad", "x", in(2, 3), "pad", ints(1, 0, 2, 1), "mode", mode, "constant_val", 0.5);
        }
        op("reverse", "x", in(2, 3), "axes", ints(1));
        op("band_part", "x", in(4, 5), "lower", 1, "upper", 2);
        op("shape", "x", in(2, 3));
        op("pixel_shuffle", "x", in(1, 8, 2, 3), "upscale_factor", 2);
        op("pixel_unshuffle", "x", in(1, 2, 4, 6), "downscale_factor", 2);
        op("depth_to_space", "x", in(1, 8, 2, 3), "block_size", 2);
        op("space_to_depth", "x", in(1, 2, 4, 6), "block_size", 2);
    }

    private void indices() {
        op("slice_by_index", "x", in(4, 5), "begin", ints(1, 0), "end", ints(3, 5), "stride", ints(1, 2));
        op(
                "slice_by_index",
                "x",
                in(4, 5),
                "begin",
                ints(-1, 4),
                "end",
                ints(0, 0),
                "stride",
                ints(1, -1),
                "squeeze_mask",
                Literal.bools(true, false),
                "end_mask",
                Literal.bools(false, true));
        op("slice_by_size", "x", in(4, 5), "begin", places(2, 2), "size", ints(2, 3));
        op("slice_by_size", "x", in(4, 5), "begin", ints(1, 2), "size", ints(2, -1));
        op("slice_update", "x", in(4, 5), "update", in(2, 2), "begin", ints(1, 2), "end", ints(3, 4));
        op("gather", "x", in(2, 4, 3), "indices", places(4, 2, 2), "axis", 1);
        op("gather", "x", in(2, 3, 4), "indices", places(4, 2, 5), "axis", 2, "batch_dims", 1);
        op("gather_along_axis", "x", in(2, 4), "indices", places(4, 2, 3), "axis", 1);
        op("scatter_along_axis", "data", in(2, 4), "indices", places(4, 2, 3), "updates", in(2, 3), "axis", 1);
        op("topk", "x", in(2, 9), "k", 3, "axis", 1);
        op("argsort", "x", in(2, 9), "axis", 1, "ascending", true);
        op("one_hot", "indices", places(4, 3), "one_hot_vector_size", 4, "axis", 0);
        op("fill", "shape", ints(2, 3), "value", 0.5);
        op("fill_like", "ref_tensor", in(2, 3), "value", 0.25);
        op("range_1d", "start", 1.0, "end", 4.0, "step", 0.5);
    }

    private void images() {
        op("conv", "x", in(1, 4, 6, 5), "weight", in(6, 2, 3, 2), "bias", in(6), "groups", 2, "pad_type", "same");
        op(
                "conv",
                "x",
                in(1, 2, 9),
                "weight",
                in(3, 2, 3),
                "strides",
                ints(2),
                "pad_type",
                "custom",
                "pad",
                ints(1, 2));
        op("conv", "x", in(1, 2, 4, 4, 4), "weight", in(2, 2, 2, 2, 2), "pad_type", "valid");
        op(
                "conv_transpose",
                "x",
                in(1, 4, 3, 3),
                "weight",
                in(4, 2, 3, 3),
                "strides",
                ints(2, 2),
                "pad_type",
                "custom",
                "pad",
                ints(1, 1, 1, 0),
                "groups",
                2);
        op("conv_transpose", "x", in(1, 2, 4), "weight", in(2, 3, 2), "strides", ints(2), "pad_type", "valid");
        for (boolean ceil : new boolean[] {false, true}) {
            op(
                    "max_pool",
                    "x",
                    in(1, 2, 6, 5),
                    "kernel_sizes",
                    ints(3, 2),
                    "strides",
                    ints(2, 2),
                    "pad_type",
                    "same",
                    "ceil_mode",
                    ceil);
        }
        op("avg_pool", "x", in(1, 2, 6, 5), "kernel_sizes", ints(3, 2), "pad_type", "custom", "pad", ints(1, 1, 0, 1));
        op(
                "avg_pool",
                "x",
                in(1, 2, 6, 5),
                "kernel_sizes",
                ints(3, 2),
                "strides",
                ints(2, 1),
                "pad_type",
                "same",
                "exclude_padding_from_average",
                true);
        op("l2_pool", "x", in(1, 2, 6), "kernel_sizes", ints(2), "pad_type", "valid");
        op("upsample_nearest_neighbor", "x", in(1, 2, 3, 4), "scale_factor_height", 2, "scale_factor_width", 3);
        op("upsample_bilinear", "x", in(1, 2, 3, 4), "scale_factor_height", 2, "scale_factor_width", 3);
        op(
                "upsample_bilinear",
                "x",
                in(1, 2, 3, 4),
                "scale_factor_height",
                2,
                "scale_factor_width",
                2,
                "align_corners",
                false);
    }

    private void compare(DType type, double tolerance) {
        dtype = type;
        elements();
        reductions();
        products();
        shapes();
        indices();
        images();
        f.done(outputs);
        List<Tensor> expected = BundledProgram.run(program.build(), _ -> MemorySegment.NULL, "jvm", inputs);
        List<Tensor> found = BundledProgram.run(program.build(), _ -> MemorySegment.NULL, "coreai", inputs);
        for (int at = 0; at < outputs.size(); at++) {
            assertEquals(expected.get(at).type(), found.get(at).type());
            for (int i = 0; i < expected.get(at).type().elements(); i++) {
                float wanted = expected.get(at).get(i);
                assertEquals(
                        wanted,
                        found.get(at).get(i),
                        tolerance * Math.max(1, Math.abs(wanted)),
                        outputs.get(at) + " at " + i);
            }
        }
    }

    @Test
    void inSinglePrecision() {
        compare(DType.FP32, 1e-5);
    }

    @Test
    void inHalfPrecision() {
        compare(DType.FP16, 8e-3);
    }

    /** The jvm engine has none of these: numbers worked out by hand. */
    @Test
    void whatTheJvmEngineHasNot() {
        byHand();
        f.done(outputs);
        List<Tensor> found = BundledProgram.run(program.build(), _ -> MemorySegment.NULL, "coreai", inputs);
        float[][] expected = {
            {1 / 6f, 2 / 15f, 3 / 14f},
            {39, 3 * 5 + 4 * 6},
            {5, 6},
            {3, 6},
            {1, 2, 3 + 10 + 20},
            {1, 2, -27},
            {1, 2, 600},
            {1, 2, 20},
            {1, 12, 23},
        };
        for (int i = 0; i < expected.length; i++) {
            assertArrayEquals(
                    expected[i], found.get(i).toFloats(), 1e-5f, outputs.get(i).name());
        }
    }

    private Value given(DType type, int[] shape, float... values) {
        String name = "in" + inputs.size();
        inputs.put(name, Tensor.of(TensorType.of(type, shape), values));
        return f.input(name, TensorType.of(type, shape));
    }

    private Value floats(int[] shape, float... values) {
        return given(DType.FP32, shape, values);
    }

    private Value indices(int[] shape, float... values) {
        return given(DType.INT32, shape, values);
    }

    private void byHand() {
        op(
                "local_response_norm",
                "x",
                floats(ints(1, 3, 1, 1), 1, 2, 3),
                "size",
                3,
                "alpha",
                3.0,
                "beta",
                1.0,
                "k",
                1.0);
        Value left = floats(ints(2, 1, 2), 3, 4, 3, 4);
        op("einsum", "values", Operand.many(left, floats(ints(2, 1, 1), 5, 6)), "equation", "chw,whr->chr");
        op("gather_nd", "x", floats(ints(2, 3), 1, 2, 3, 4, 5, 6), "indices", indices(ints(2, 2), 1, 1, -1, 2));
        op(
                "gather_nd",
                "x",
                floats(ints(2, 3), 1, 2, 3, 4, 5, 6),
                "indices",
                indices(ints(2, 1), 2, 2),
                "batch_dims",
                1);
        for (String mode : List.of("add", "sub", "mul", "max")) {
            op(
                    "scatter",
                    "data",
                    floats(ints(3), 1, 2, 3),
                    "indices",
                    indices(ints(2), 2, 2),
                    "updates",
                    floats(ints(2), 10, 20),
                    "axis",
                    0,
                    "mode",
                    mode);
        }
        op(
                "scatter_nd",
                "data",
                floats(ints(3), 1, 2, 3),
                "indices",
                indices(ints(2, 1), -1, 1),
                "updates",
                floats(ints(2), 20, 10),
                "mode",
                "add");
    }

    @Test
    void nothingOfTheTableIsLeftOut() {
        elements();
        reductions();
        products();
        shapes();
        indices();
        images();
        byHand();
        Set<String> all = new TreeSet<>(OperationTable.all().keySet());
        all.removeAll(tried);
        all.removeIf(ConstantText::known);
        all.removeAll(Emitters.REFUSED.keySet());
        assertEquals(Set.of("read_state", "write_state"), all);
    }
}
