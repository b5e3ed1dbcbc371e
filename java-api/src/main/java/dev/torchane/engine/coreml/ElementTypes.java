package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which element types Core ML's operations compute with (coremltools, {@code mil/ops/defs}, {@code type_domains} of iOS 18). */
final class ElementTypes {

    /** Parameters whose elements an operation computes with. */
    static final Set<String> DATA = Set.of("x", "y", "a", "b", "data", "updates", "update", "ref_tensor");

    private static final Set<DType> FLOATS = EnumSet.of(DType.FP16, DType.FP32);
    private static final Set<DType> NUMBERS = EnumSet.of(DType.FP16, DType.FP32, DType.INT32);
    private static final Set<DType> NUMBERS_AND_TRUTH = EnumSet.of(DType.FP16, DType.FP32, DType.INT32, DType.BOOL);
    private static final Set<DType> ALL_NUMBERS =
            EnumSet.of(DType.FP16, DType.FP32, DType.INT32, DType.INT16, DType.UINT16, DType.INT8, DType.UINT8);

    private static final Map<String, Set<DType>> TAKEN = taken();

    private ElementTypes() {}

    private static Map<String, Set<DType>> taken() {
        Map<String, Set<DType>> taken = new HashMap<>();
        List.of("pad", "depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle")
                .forEach(kind -> taken.put(kind, FLOATS));
        List.of(
                        "abs",
                        "add",
                        "argsort",
                        "cumsum",
                        "equal",
                        "floor_div",
                        "greater",
                        "greater_equal",
                        "less",
                        "less_equal",
                        "matmul",
                        "maximum",
                        "minimum",
                        "mod",
                        "mul",
                        "not_equal",
                        "pow",
                        "range_1d",
                        "real_div",
                        "reduce_argmax",
                        "reduce_argmin",
                        "reduce_max",
                        "reduce_mean",
                        "reduce_min",
                        "reduce_prod",
                        "reduce_sum",
                        "reduce_sum_square",
                        "resize",
                        "scatter",
                        "scatter_along_axis",
                        "scatter_nd",
                        "sign",
                        "square",
                        "sub")
                .forEach(kind -> taken.put(kind, NUMBERS));
        List.of("band_part", "fill_like", "select", "shape", "split", "tile")
                .forEach(kind -> taken.put(kind, NUMBERS_AND_TRUTH));
        List.of("gather", "gather_along_axis", "gather_nd", "topk").forEach(kind -> taken.put(kind, ALL_NUMBERS));
        return taken;
    }

    /** The element type of an operation's data, if Core ML's operation does not take it. */
    static Optional<DType> unsupported(Operation operation) {
        Set<DType> taken = TAKEN.get(operation.kind());
        if (taken == null) {
            return Optional.empty();
        }
        return operation.inputs().entrySet().stream()
                .filter(entry -> DATA.contains(entry.getKey()))
                .map(entry -> entry.getValue().getFirst())
                .map(Value::type)
                .map(type -> type.dtype())
                .filter(dtype -> !taken.contains(dtype))
                .findFirst();
    }

    /** The type that stands in for one that an operation does not take: exact for every smaller integer. */
    static DType instead(String kind) {
        return TAKEN.get(kind).contains(DType.INT32) ? DType.INT32 : DType.FP32;
    }
}
