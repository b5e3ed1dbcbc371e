package dev.torchane.program;

import dev.torchane.weights.WeightType;
import java.util.List;

/** States and compressed constants. */
final class ConstantRules {

    private ConstantRules() {}

    static List<Signature> signatures() {
        return List.of(
                Signature.of("read_state", "input", ConstantRules::readState),
                Signature.of("write_state", "input, data", ConstantRules::writeState),
                Signature.of("constexpr_cast", "const source_val, const output_dtype", ConstantRules::cast),
                Signature.of(
                        "constexpr_blockwise_shift_scale",
                        "const data, const scale, const offset?",
                        ConstantRules::blockwise),
                Signature.of(
                        "constexpr_affine_dequantize",
                        "const quantized_data, const zero_point, const scale, const axis",
                        ConstantRules::affine),
                Signature.of(
                        "constexpr_lut_to_dense",
                        "const indices, const lut, const vector_axis?",
                        ConstantRules::palette),
                Signature.of("constexpr_sparse_to_dense", "const nonzero_data, const mask", ConstantRules::sparse),
                Signature.of(
                        "ane.constexpr_ggml", "const data, const kind, const shape, const dtype", ConstantRules::ggml));
    }

    private static List<TensorType> readState(Call call) {
        requireState(call);
        return List.of(call.type("input"));
    }

    private static List<TensorType> writeState(Call call) {
        requireState(call);
        call.exactly("data", call.type("input"));
        return List.of();
    }

    private static void requireState(Call call) {
        if (!call.value("input").state()) {
            throw call.refuse("a state of the function as 'input'");
        }
    }

    private static List<TensorType> cast(Call call) {
        TensorType source = call.floats("source_val");
        if (!call.text("output_dtype").equals("fp32") || source.dtype() != DType.FP16) {
            throw call.refuse(
                    "fp16 to 'fp32', not " + source.dtype().mil() + " to '" + call.text("output_dtype") + "'");
        }
        return List.of(source.withDtype(DType.FP32));
    }

    /** {@code scale · (data − offset)}, one scale for each block. */
    private static List<TensorType> blockwise(Call call) {
        TensorType data = call.rank("data", 1, 5);
        TensorType scale = call.floats("scale");
        call.rank("scale", data.rank(), data.rank());
        requireBlocks(call, "scale", data, scale);
        if (call.has("offset")) {
            TensorType offset = call.type("offset");
            if (!offset.shape().equals(scale.shape())
                    || (!offset.dtype().isFloat() && offset.dtype() != data.dtype())) {
                throw call.refuse(
                        "'offset' of the scale's shape and of " + data.dtype().mil() + " or floats, not " + offset);
            }
        }
        return List.of(data.withDtype(scale.dtype()));
    }

    private static void requireBlocks(Call call, String name, TensorType data, TensorType blocks) {
        for (int axis = 0; axis < data.rank(); axis++) {
            if (blocks.axis(axis) < 1 || data.axis(axis) % blocks.axis(axis) != 0) {
                throw call.refuse(
                        "'" + name + "' whose axis " + axis + " divides " + data.axis(axis) + ", not " + blocks);
            }
        }
    }

    private static List<TensorType> affine(Call call) {
        TensorType data = call.rank("quantized_data", 1, 5);
        TensorType scale = call.floats("scale");
        int size = data.axis(call.axis("axis", data.rank()));
        for (String parameter : List.of("scale", "zero_point")) {
            TensorType type = call.type(parameter);
            if (type.rank() > 1 || (type.rank() == 1 && type.axis(0) != size)) {
                throw call.refuse("'" + parameter + "' as a scalar or of " + size + " elements, not " + type);
            }
        }
        return List.of(data.withDtype(scale.dtype()));
    }

    /** iOS 18: {@code lut} has the rank of {@code indices} plus two, {@code [blocks…, 2^bits, vector]}. */
    private static List<TensorType> palette(Call call) {
        TensorType indices = call.rank("indices", 1, 5);
        TensorType lut = call.rank("lut", indices.rank() + 2, indices.rank() + 2);
        requireBlocks(call, "lut", indices, lut);
        int bits = indices.dtype().bits();
        if (bits > 8 || lut.axis(-2) != 1 << bits) {
            throw call.refuse(
                    "a 'lut' of 2^" + bits + " entries for " + indices.dtype().mil() + ", not " + lut);
        }
        int vector = lut.axis(-1);
        if (vector == 1) {
            return List.of(indices.withDtype(lut.dtype()));
        }
        int axis = call.axis("vector_axis", indices.rank());
        int size = Shapes.size(call, (long) indices.axis(axis) * vector);
        return List.of(new TensorType(lut.dtype(), Shapes.with(indices.shape(), axis, size)));
    }

    private static List<TensorType> sparse(Call call) {
        TensorType mask = call.rank("mask", 1, 5);
        TensorType data = call.rank("nonzero_data", 1, 1);
        if (mask.dtype() != DType.UINT1 || data.elements() > mask.elements()) {
            throw call.refuse("a 'mask' of uint1 with room for " + data.elements() + " elements, not " + mask);
        }
        return List.of(mask.withDtype(data.dtype()));
    }

    private static List<TensorType> ggml(Call call) {
        TensorType data = call.rank("data", 1, 1);
        WeightType kind = WeightType.block(call.text("kind"))
                .orElseThrow(
                        () -> call.refuse("a kind of " + WeightType.blocks() + ", not '" + call.text("kind") + "'"));
        List<Integer> shape = call.ints("shape");
        String dtype = call.text("dtype");
        boolean whole = !shape.isEmpty()
                && shape.stream().allMatch(size -> size > 0)
                && shape.getLast() % kind.blockElements() == 0;
        if (!whole || !(dtype.equals("fp32") || dtype.equals("fp16"))) {
            throw call.refuse("a shape of whole rows of " + kind.blockElements()
                    + " elements and dtype fp32 or fp16, not " + shape + " and '" + dtype + "'");
        }
        TensorType result = new TensorType(DType.ofMil(dtype), shape);
        long bytes = kind.bytes(result.elements());
        if (data.dtype() != DType.UINT8 || data.elements() != bytes) {
            throw call.refuse("'data' of uint8 with " + bytes + " bytes, not " + data);
        }
        return List.of(result);
    }
}
