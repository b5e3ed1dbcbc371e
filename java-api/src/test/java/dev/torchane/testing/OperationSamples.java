package dev.torchane.testing;

import static dev.torchane.testing.OperationSample.of;

import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A sample of every operation of the table, and of those forms of some that engines treat in ways of their own. */
public final class OperationSamples {

    /** Operations without a sample: states need a function around them, and {@code non_zero} is always refused. */
    public static final Set<String> WITHOUT = Set.of("non_zero", "read_state", "write_state", "ane.constexpr_ggml");

    private OperationSamples() {}

    /** All samples. */
    public static List<OperationSample> all() {
        List<OperationSample> all = new ArrayList<>();
        elementwise(all);
        reductions(all);
        products(all);
        shapes(all);
        slices(all);
        gathers(all);
        pictures(all);
        constants(all);
        return List.copyOf(all);
    }

    private static void elementwise(List<OperationSample> all) {
        for (String kind : List.of("add", "sub", "mul", "maximum", "minimum")) {
            all.add(of(kind).in("x", 2, 3, 4).in("y", 3, 1));
        }
        for (String kind : List.of("real_div", "floor_div", "mod", "pow")) {
            all.add(of(kind).positive("x", 2, 3, 4).positive("y", 3, 1));
        }
        all.add(of("add", "int32")
                .of(DType.INT32, "x", new int[] {3}, 1, 2, 3)
                .of(DType.INT32, "y", new int[] {3}, 4, 5, 6));
        all.add(of("mul", "uint8")
                .of(DType.UINT8, "x", new int[] {3}, 1, 20, 3)
                .of(DType.UINT8, "y", new int[] {3}, 4, 5, 6));
        all.add(of("equal", "bool").truth("x", 2, 3).truth("y", 3));
        all.add(of("round", "int32").of(DType.INT32, "x", new int[] {3}, 1, 2, 3));
        for (String kind : List.of("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")) {
            all.add(of(kind).of(DType.FP32, "x", new int[] {2, 2}, 1, 2, 3, 4)
                    .of(DType.FP32, "y", new int[] {2}, 1, 3));
        }
        for (String kind : List.of("logical_and", "logical_or", "logical_xor")) {
            all.add(of(kind).truth("x", 2, 3).truth("y", 3));
        }
        all.add(of("logical_not").truth("x", 2, 3));
        for (String kind : List.of("acos", "asin", "atanh")) {
            all.add(of(kind).inner("x", 2, 3));
        }
        for (String kind : List.of("sqrt", "rsqrt", "log", "inverse")) {
            all.add(of(kind).positive("x", 2, 3));
        }
        for (String kind : List.of(
                "abs",
                "atan",
                "ceil",
                "cos",
                "cosh",
                "elu",
                "erf",
                "exp",
                "exp2",
                "floor",
                "gelu",
                "identity",
                "leaky_relu",
                "linear_activation",
                "relu",
                "relu6",
                "round",
                "scaled_tanh",
                "sigmoid",
                "sigmoid_hard",
                "sign",
                "silu",
                "sin",
                "sinh",
                "softplus",
                "softsign",
                "square",
                "tan",
                "tanh")) {
            all.add(of(kind).in("x", 2, 3));
        }
        for (String mode : List.of("TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")) {
            all.add(of("gelu", mode).in("x", 2, 3).text("mode", mode));
        }
        all.add(of("clip").in("x", 2, 3).number("alpha", -0.5).number("beta", 0.5));
        all.add(of("threshold").in("x", 2, 3).number("alpha", 0.1));
        all.add(of("prelu").in("x", 1, 3, 2, 2).positiveWeights("alpha", 3));
        all.add(of("select").truth("cond", 2, 3).in("a", 2, 3).in("b", 2, 3));
        all.add(of("select", "scalars").truth("cond", 2, 3).number("a", 1.5).number("b", -2));
        all.add(of("cast").in("x", 2, 3).text("dtype", "fp16"));
        all.add(of("cast", "int32").in("x", 2, 3).text("dtype", "int32"));
    }

    private static void reductions(List<OperationSample> all) {
        for (String kind : List.of(
                "reduce_l1_norm",
                "reduce_l2_norm",
                "reduce_max",
                "reduce_mean",
                "reduce_min",
                "reduce_prod",
                "reduce_sum",
                "reduce_sum_square",
                "reduce_log_sum_exp",
                "reduce_log_sum")) {
            all.add(of(kind).positive("x", 2, 3, 4).ints("axes", 0, -1).flag("keep_dims", true));
        }
        all.add(of("reduce_sum", "all").in("x", 2, 3).flag("keep_dims", false));
        for (String kind : List.of("reduce_argmax", "reduce_argmin")) {
            all.add(of(kind).in("x", 2, 3, 4).with("axis", 1));
        }
        all.add(of("softmax").in("x", 2, 3, 4).with("axis", 1));
        all.add(of("layer_norm")
                .in("x", 2, 3, 4)
                .ints("axes", -1)
                .weights("gamma", DType.FP32, 4)
                .weights("beta", DType.FP32, 4));
        all.add(of("layer_norm", "computed")
                .in("x", 2, 3, 4)
                .ints("axes", -1)
                .in("gamma", 4)
                .in("beta", 4));
        all.add(of("instance_norm")
                .in("x", 2, 3, 4, 4)
                .weights("gamma", DType.FP32, 3)
                .weights("beta", DType.FP32, 3));
        all.add(of("batch_norm")
                .in("x", 2, 3, 4, 4)
                .weights("mean", DType.FP32, 3)
                .positiveWeights("variance", 3)
                .weights("gamma", DType.FP32, 3)
                .weights("beta", DType.FP32, 3));
        all.add(of("l2_norm").in("x", 1, 3, 2, 2));
        all.add(of("local_response_norm").in("x", 1, 5, 2, 2).with("size", 3));
        all.add(of("cumsum").in("x", 2, 3).with("axis", 1));
        all.add(of("cumsum", "reverse").in("x", 2, 3).with("axis", 1).flag("reverse", true));
        all.add(of("cumsum", "exclusive").in("x", 2, 3).with("axis", 1).flag("exclusive", true));
    }

    private static void products(List<OperationSample> all) {
        all.add(of("linear")
                .in("x", 2, 3, 4)
                .weights("weight", DType.FP32, 5, 4)
                .weights("bias", DType.FP32, 5));
        all.add(of("linear", "wide")
                .in("x", 1, 2, 2, 4)
                .weights("weight", DType.FP32, 5, 4)
                .weights("bias", DType.FP32, 5));
        all.add(of("linear", "plain").in("x", 2, 4).weights("weight", DType.FP32, 5, 4));
        all.add(of("linear", "computed").in("x", 2, 4).in("weight", 5, 4).in("bias", 5));
        all.add(of("matmul").in("x", 2, 3, 4).in("y", 1, 4, 5));
        all.add(of("matmul", "transposed")
                .in("x", 4, 3)
                .in("y", 5, 4)
                .flag("transpose_x", true)
                .flag("transpose_y", true));
        all.add(of("einsum")
                .in("a", 1, 2, 3, 4)
                .in("b", 1, 4, 3, 5)
                .many("values", "a", "b")
                .text("equation", "nchw,nwhu->nchu"));
        all.add(of("scaled_dot_product_attention")
                .in("query", 1, 2, 3, 4)
                .in("key", 1, 2, 5, 4)
                .in("value", 1, 2, 5, 4));
        all.add(of("scaled_dot_product_attention", "masked")
                .in("query", 1, 2, 3, 4)
                .in("key", 1, 2, 5, 4)
                .in("value", 1, 2, 5, 6)
                .in("attn_mask", 1, 1, 3, 5));
    }

    private static void shapes(List<OperationSample> all) {
        all.add(of("reshape").in("x", 2, 3, 4).ints("shape", 4, -1));
        all.add(of("transpose").in("x", 2, 3, 4).ints("perm", 2, 0, 1));
        all.add(of("expand_dims").in("x", 2, 3).ints("axes", 0, -1));
        all.add(of("squeeze").in("x", 1, 2, 1).ints("axes", 0));
        all.add(of("concat")
                .in("a", 2, 3)
                .in("b", 2, 1)
                .many("values", "a", "b")
                .with("axis", 1)
                .flag("interleave", false));
        all.add(of("stack").in("a", 2, 3).in("b", 2, 3).many("values", "a", "b").with("axis", 1));
        all.add(of("split").in("x", 2, 5).ints("split_sizes", 2, 3).with("axis", 1));
        all.add(of("split", "equal").in("x", 2, 4).with("num_splits", 2).with("axis", 1));
        all.add(of("tile").in("x", 2, 3).ints("reps", 2, 1));
        all.add(of("pad")
                .in("x", 1, 2, 3, 3)
                .ints("pad", 1, 2, 0, 1)
                .text("mode", "constant")
                .number("constant_val", 0.5));
        all.add(of("pad", "reflect").in("x", 1, 2, 3, 3).ints("pad", 1, 1, 2, 0).text("mode", "reflect"));
        all.add(of("pad", "int32").of(DType.INT32, "x", new int[] {2}, 7, 8).ints("pad", 1, 0));
        all.add(of("pad", "int32_value")
                .of(DType.INT32, "x", new int[] {2}, 7, 8)
                .ints("pad", 1, 0)
                .with("constant_val", 9));
        all.add(of("reverse").in("x", 2, 3).ints("axes", 1));
        all.add(of("band_part").in("x", 3, 4).with("lower", 0).with("upper", 1));
        all.add(of("shape").in("x", 2, 3, 4));
        all.add(of("pixel_shuffle").in("x", 1, 8, 2, 3).with("upscale_factor", 2));
        all.add(of("pixel_unshuffle").in("x", 1, 2, 4, 6).with("downscale_factor", 2));
        all.add(of("depth_to_space").in("x", 1, 8, 2, 3).with("block_size", 2));
        all.add(of("space_to_depth").in("x", 1, 2, 4, 6).with("block_size", 2));
        all.add(of("fill").ints("shape", 2, 3).number("value", 1.5));
        all.add(of("fill_like").in("ref_tensor", 2, 3).number("value", 1.5));
        all.add(of("range_1d").with("start", 1).with("end", 9).with("step", 3));
    }

    private static void slices(List<OperationSample> all) {
        all.add(of("slice_by_index").in("x", 3, 4).ints("begin", 0, 1).ints("end", 2, 4));
        all.add(of("slice_by_index", "squeezed")
                .in("x", 3, 4)
                .ints("begin", 1, 0)
                .ints("end", 2, 4)
                .ints("stride", 1, 2)
                .with("squeeze_mask", Literal.bools(true, false)));
        all.add(of("slice_by_index", "masked")
                .in("x", 3, 4)
                .ints("begin", 1, 2)
                .ints("end", 2, 3)
                .with("begin_mask", Literal.bools(true, false))
                .with("end_mask", Literal.bools(false, true)));
        all.add(of("slice_by_size").in("x", 3, 4).ints("begin", 1, 0).ints("size", 2, 3));
        all.add(of("slice_update")
                .in("x", 3, 4)
                .in("update", 1, 2)
                .ints("begin", 1, 1)
                .ints("end", 2, 3));
        all.add(of("slice_update", "computed")
                .in("x", 3, 4)
                .in("update", 2, 4)
                .of(DType.INT32, "begin", new int[] {2}, 1, 0)
                .of(DType.INT32, "end", new int[] {2}, 3, 4));
    }

    private static void gathers(List<OperationSample> all) {
        all.add(of("gather")
                .in("x", 3, 4)
                .of(DType.INT32, "indices", new int[] {2}, 2, 0)
                .with("axis", 0));
        all.add(of("gather", "bool")
                .truth("x", 3, 4)
                .of(DType.INT32, "indices", new int[] {2}, 2, 0)
                .with("axis", 0));
        all.add(of("gather_along_axis")
                .in("x", 2, 3)
                .of(DType.INT32, "indices", new int[] {2, 2}, 2, 0, 1, 1)
                .with("axis", 1));
        all.add(of("gather_nd").in("x", 2, 3).of(DType.INT32, "indices", new int[] {2, 2}, 1, 2, 0, 0));
        all.add(of("scatter")
                .in("data", 3, 2)
                .of(DType.INT32, "indices", new int[] {2}, 2, 0)
                .in("updates", 2, 2)
                .with("axis", 0)
                .text("mode", "update"));
        all.add(of("scatter_along_axis")
                .in("data", 2, 3)
                .of(DType.INT32, "indices", new int[] {2, 1}, 2, 0)
                .in("updates", 2, 1)
                .with("axis", 1)
                .text("mode", "update"));
        all.add(of("scatter_along_axis", "add")
                .in("data", 2, 3)
                .of(DType.INT32, "indices", new int[] {2, 1}, 2, 0)
                .in("updates", 2, 1)
                .with("axis", 1)
                .text("mode", "add"));
        all.add(of("scatter_nd")
                .in("data", 2, 3)
                .of(DType.INT32, "indices", new int[] {2, 2}, 1, 2, 0, 0)
                .in("updates", 2)
                .text("mode", "update"));
        all.add(of("topk").in("x", 2, 5).with("k", 2).with("axis", -1));
        all.add(of("argsort").in("x", 2, 5).with("axis", -1));
        all.add(of("one_hot")
                .of(DType.INT32, "indices", new int[] {3}, 2, 0, 1)
                .with("one_hot_vector_size", 4)
                .number("on_value", 1)
                .number("off_value", 0));
    }

    private static void pictures(List<OperationSample> all) {
        all.add(of("conv")
                .in("x", 1, 3, 5, 5)
                .weights("weight", DType.FP32, 4, 3, 3, 3)
                .weights("bias", DType.FP32, 4));
        all.add(of("conv", "grouped")
                .in("x", 1, 4, 5, 5)
                .weights("weight", DType.FP32, 4, 2, 3, 3)
                .ints("strides", 2, 2)
                .text("pad_type", "custom")
                .ints("pad", 1, 1, 1, 1)
                .with("groups", 2));
        all.add(of("conv", "signal")
                .in("x", 1, 3, 7)
                .weights("weight", DType.FP32, 4, 3, 3)
                .ints("dilations", 2));
        all.add(of("conv_transpose")
                .in("x", 1, 3, 4, 4)
                .weights("weight", DType.FP32, 3, 2, 3, 3)
                .ints("strides", 2, 2));
        for (String kind : List.of("max_pool", "l2_pool", "avg_pool")) {
            all.add(of(kind).in("x", 1, 2, 4, 4)
                    .ints("kernel_sizes", 2, 2)
                    .ints("strides", 2, 2)
                    .text("pad_type", "valid"));
        }
        all.add(of("upsample_nearest_neighbor")
                .in("x", 1, 2, 2, 3)
                .with("scale_factor_height", 2)
                .with("scale_factor_width", 3));
        all.add(of("upsample_bilinear")
                .in("x", 1, 2, 2, 3)
                .with("scale_factor_height", 2)
                .with("scale_factor_width", 2)
                .flag("align_corners", false));
        all.add(of("resize_nearest_neighbor")
                .in("x", 1, 2, 2, 3)
                .with("target_size_height", 4)
                .with("target_size_width", 6));
        all.add(of("resize_bilinear")
                .in("x", 1, 2, 2, 3)
                .with("target_size_height", 4)
                .with("target_size_width", 6));
        all.add(of("resize").in("x", 1, 2, 2, 3).ints("shape", 4, 6).with("resized_dims", 2));
    }

    private static void constants(List<OperationSample> all) {
        all.add(of("constexpr_cast").weights("source_val", DType.FP16, 2, 3).text("output_dtype", "fp32"));
        all.add(of("constexpr_blockwise_shift_scale")
                .weights("data", DType.INT8, 4, 6)
                .positiveWeights("scale", 4, 1));
        all.add(of("constexpr_blockwise_shift_scale", "int4")
                .weights("data", DType.INT4, 4, 8)
                .positiveWeights("scale", 4, 2));
        all.add(of("constexpr_blockwise_shift_scale", "offset")
                .weights("data", DType.UINT8, 4, 6)
                .positiveWeights("scale", 2, 3)
                .weights("offset", DType.UINT8, 2, 3));
        all.add(of("constexpr_affine_dequantize")
                .weights("quantized_data", DType.INT8, 4, 6)
                .weights("zero_point", DType.INT8, 4)
                .positiveWeights("scale", 4)
                .with("axis", 0));
        all.add(of("constexpr_lut_to_dense")
                .weights("indices", DType.UINT4, 8, 4)
                .weights("lut", DType.FP32, 2, 1, 16, 1));
        all.add(of("constexpr_sparse_to_dense")
                .weights("nonzero_data", DType.FP32, 3)
                .with(
                        "mask",
                        new Literal.Numbers(
                                TensorType.of(DType.UINT1, 2, 4), List.of(0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0))));
        all.add(of("constexpr_lut_to_dense", "uint6")
                .weights("indices", DType.UINT6, 4, 5)
                .weights("lut", DType.FP32, 1, 1, 64, 1));
    }
}
