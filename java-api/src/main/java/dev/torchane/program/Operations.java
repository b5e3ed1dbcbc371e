package dev.torchane.program;

import dev.torchane.weights.WeightType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The common operations by name, and the groups of operations that engines like to see whole. Every method adds
 * operations under the given name and returns the result; an empty name derives one.
 */
public interface Operations {

    /** Adds any operation; see {@link FunctionBuilder#operation(String, String, Map)}. */
    List<Value> operation(String kind, String name, Map<String, ? extends Operand> operands);

    /** Adds what {@code body} adds as one group of a kind. */
    <T> T inGroup(String kind, Supplier<T> body);

    /** Adds an operation with one result. */
    default Value apply(String kind, String name, Map<String, ? extends Operand> operands) {
        return operation(kind, name, operands).getFirst();
    }

    /** Adds an operation of one operand {@code x}: {@code exp}, {@code silu}, {@code sqrt}, … */
    default Value unary(String kind, String name, Operand x) {
        return apply(kind, name, Map.of("x", x));
    }

    /** Adds an operation of two operands that broadcast: {@code add}, {@code maximum}, {@code less}, … */
    default Value binary(String kind, String name, Operand x, Operand y) {
        return apply(kind, name, Map.of("x", x, "y", y));
    }

    /** {@code x + y}. */
    default Value add(String name, Operand x, Operand y) {
        return binary("add", name, x, y);
    }

    /** {@code x − y}. */
    default Value sub(String name, Operand x, Operand y) {
        return binary("sub", name, x, y);
    }

    /** {@code x · y}, element by element. */
    default Value mul(String name, Operand x, Operand y) {
        return binary("mul", name, x, y);
    }

    /** {@code x / y}. */
    default Value realDiv(String name, Operand x, Operand y) {
        return binary("real_div", name, x, y);
    }

    /** {@code x · weightᵀ} for {@code x [.., K]}, {@code weight [N, K]}. */
    default Value linear(String name, Operand x, Operand weight) {
        return apply("linear", name, Map.of("x", x, "weight", weight));
    }

    /** {@code x · weightᵀ + bias} for {@code x [.., K]}, {@code weight [N, K]}, {@code bias [N]}. */
    default Value linear(String name, Operand x, Operand weight, Operand bias) {
        return apply("linear", name, Map.of("x", x, "weight", weight, "bias", bias));
    }

    /** Product of matrices over broadcast leading axes. */
    default Value matmul(String name, Operand x, Operand y, boolean transposeX, boolean transposeY) {
        Map<String, Operand> operands = new LinkedHashMap<>(Map.of("x", x, "y", y));
        operands.put("transpose_x", Literal.bool(transposeX));
        operands.put("transpose_y", Literal.bool(transposeY));
        return apply("matmul", name, operands);
    }

    /** Softmax along an axis. */
    default Value softmax(String name, Operand x, int axis) {
        return apply("softmax", name, Map.of("x", x, "axis", Literal.int32(axis)));
    }

    /** {@code x · sigmoid(x)}. */
    default Value silu(String name, Operand x) {
        return unary("silu", name, x);
    }

    /** GELU; mode {@code EXACT}, {@code TANH_APPROXIMATION} or {@code SIGMOID_APPROXIMATION}. */
    default Value gelu(String name, Operand x, String mode) {
        return apply("gelu", name, Map.of("x", x, "mode", Literal.text(mode)));
    }

    /** Changes the element type. */
    default Value cast(String name, Operand x, DType dtype) {
        return apply("cast", name, Map.of("x", x, "dtype", Literal.text(dtype.mil())));
    }

    /** Mean over axes. */
    default Value reduceMean(String name, Operand x, List<Integer> axes, boolean keepDims) {
        return reduce("reduce_mean", name, x, axes, keepDims);
    }

    /** Any {@code reduce_*} over axes. */
    default Value reduce(String kind, String name, Operand x, List<Integer> axes, boolean keepDims) {
        return apply(kind, name, Map.of("x", x, "axes", Literal.int32s(axes), "keep_dims", Literal.bool(keepDims)));
    }

    /** {@code 1 / sqrt(x + epsilon)}; epsilon has x's element type. */
    default Value rsqrt(String name, Value x, double epsilon) {
        return apply(
                "rsqrt", name, Map.of("x", x, "epsilon", Literal.scalar(x.type().dtype(), epsilon)));
    }

    /** The same elements under another shape; one −1 is computed. */
    default Value reshape(String name, Operand x, int... shape) {
        return apply("reshape", name, Map.of("x", x, "shape", Literal.int32s(shape)));
    }

    /** Permutes the axes. */
    default Value transpose(String name, Operand x, int... perm) {
        return apply("transpose", name, Map.of("x", x, "perm", Literal.int32s(perm)));
    }

    /** Inserts axes of size 1. */
    default Value expandDims(String name, Operand x, int... axes) {
        return apply("expand_dims", name, Map.of("x", x, "axes", Literal.int32s(axes)));
    }

    /** Removes axes of size 1. */
    default Value squeeze(String name, Operand x, int... axes) {
        return apply("squeeze", name, Map.of("x", x, "axes", Literal.int32s(axes)));
    }

    /** Joins values along an axis. */
    default Value concat(String name, List<? extends Operand> values, int axis) {
        return apply(
                "concat",
                name,
                Map.of("values", Operand.many(values), "axis", Literal.int32(axis), "interleave", Literal.bool(false)));
    }

    /** Cuts into parts of given sizes along an axis. */
    default List<Value> split(String name, Operand x, List<Integer> sizes, int axis) {
        return operation(
                "split", name, Map.of("x", x, "split_sizes", Literal.int32s(sizes), "axis", Literal.int32(axis)));
    }

    /** {@code x[begin:end]} on every axis, as Python slices. */
    default Value sliceByIndex(String name, Operand x, List<Integer> begin, List<Integer> end) {
        return apply(
                "slice_by_index", name, Map.of("x", x, "begin", Literal.int32s(begin), "end", Literal.int32s(end)));
    }

    /** {@code x[begin:begin + size]} on every axis; begin may be computed. */
    default Value sliceBySize(String name, Operand x, Operand begin, List<Integer> size) {
        return apply("slice_by_size", name, Map.of("x", x, "begin", begin, "size", Literal.int32s(size)));
    }

    /** {@code x} with {@code x[begin:end] = update}; begin and end may be computed. */
    default Value sliceUpdate(String name, Operand x, Operand update, Operand begin, Operand end) {
        return apply("slice_update", name, Map.of("x", x, "update", update, "begin", begin, "end", end));
    }

    /** Takes elements along an axis. */
    default Value gather(String name, Operand x, Operand indices, int axis) {
        return apply("gather", name, Map.of("x", x, "indices", indices, "axis", Literal.int32(axis)));
    }

    /** {@code a} where the condition holds, {@code b} elsewhere. */
    default Value select(String name, Operand condition, Operand a, Operand b) {
        return apply("select", name, Map.of("cond", condition, "a", a, "b", b));
    }

    /** The contents of a state. */
    default Value readState(String name, Value state) {
        return apply("read_state", name, Map.of("input", state));
    }

    /** Replaces the contents of a state. */
    default void writeState(String name, Value state, Value data) {
        operation("write_state", name, Map.of("input", state, "data", data));
    }

    /** {@code scale · data}, one scale for each block of {@code data}; the value of a quantised constant. */
    default Value blockwiseShiftScale(String name, Value data, Value scale) {
        return apply("constexpr_blockwise_shift_scale", name, Map.of("data", data, "scale", scale));
    }

    /** {@code lut} of each element's block at the element's index. */
    default Value lutToDense(String name, Value indices, Value lut) {
        return apply("constexpr_lut_to_dense", name, Map.of("indices", indices, "lut", lut));
    }

    /** Blocks of a GGUF, as it stores them, as a tensor. */
    default Value ggml(String name, Value data, WeightType kind, TensorType type) {
        return apply(
                "ane.constexpr_ggml",
                name,
                Map.of(
                        "data", data,
                        "kind", Literal.text(kind.id()),
                        "shape", Literal.int32s(type.shape()),
                        "dtype", Literal.text(type.dtype().mil())));
    }

    /** An fp16 constant as fp32. */
    default Value constexprCast(String name, Value source) {
        return apply("constexpr_cast", name, Map.of("source_val", source, "output_dtype", Literal.text("fp32")));
    }

    /** A group {@code rms_norm}: {@code x / sqrt(mean(x²) + epsilon) · weight} over the last axis, the norm in fp32. */
    default Value rmsNorm(String name, Value x, Value weight, double epsilon) {
        return inGroup("rms_norm", () -> Groups.rmsNorm(this, name, x, weight, epsilon));
    }

    /** A group {@code rope}: {@code x·cos + rotate_half(x)·sin} for {@code x [1, H, Q, D]}, {@code cos, sin [1, 1, Q, D]}. */
    default Value rope(String name, Value x, Value cos, Value sin) {
        return inGroup("rope", () -> Groups.rope(this, name, x, cos, sin));
    }

    /**
     * A group {@code sdpa}: {@code softmax(scale·q·kᵀ + mask)·v} for {@code q [1, H, Q, D]}, {@code k, v [1, kv, M, D]},
     * {@code mask [1, 1, Q, M]}; {@code kv} divides {@code H}.
     */
    default Value attention(String name, Value q, Value k, Value v, Value mask, double scale) {
        return inGroup("sdpa", () -> Groups.sdpa(this, name, q, k, v, mask, scale));
    }

    /** A group {@code swiglu}: {@code silu(gate) · up}. */
    default Value swiglu(String name, Value gate, Value up) {
        return inGroup("swiglu", () -> mul(name, silu(name + "_act", gate), up));
    }

    /** A group {@code swiglu} with a GELU of some mode as its activation. */
    default Value geglu(String name, Value gate, Value up, String mode) {
        return inGroup("swiglu", () -> mul(name, gelu(name + "_act", gate, mode), up));
    }

    /** The integers {@code from} to {@code to}, for permutations and axes. */
    static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }
}
