package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;

/** Operations that pick, place or make elements by position. */
final class IndexRules {

    private static final List<String> SCATTER_MODES = List.of("add", "div", "max", "min", "mul", "sub", "update");

    private IndexRules() {}

    static List<Signature> signatures() {
        String slice = "const stride?, const begin_mask?, const end_mask?, const squeeze_mask?";
        return List.of(
                Signature.of("slice_by_index", "x, begin, end, " + slice, IndexRules::sliceByIndex),
                Signature.of("slice_by_size", "x, begin, const size", IndexRules::sliceBySize),
                Signature.of("slice_update", "x, update, begin, end, " + slice, IndexRules::sliceUpdate),
                Signature.of(
                        "gather",
                        "x, indices, const axis = 0, const batch_dims = 0, const validate_indices = false",
                        IndexRules::gather),
                Signature.of(
                        "gather_along_axis",
                        "x, indices, const axis = 0, const validate_indices = false",
                        IndexRules::gatherAlongAxis),
                Signature.of(
                        "gather_nd",
                        "x, indices, const batch_dims = 0, const validate_indices = false",
                        IndexRules::gatherNd),
                Signature.of(
                        "scatter",
                        "data, indices, updates, const axis = 0, const mode = add, const validate_indices = false",
                        IndexRules::scatter),
                Signature.of(
                        "scatter_along_axis",
                        "data, indices, updates, const axis = 0, const mode = add, const validate_indices = false",
                        IndexRules::scatterAlongAxis),
                Signature.of(
                        "scatter_nd",
                        "data, indices, updates, const mode = add, const validate_indices = false",
                        IndexRules::scatterNd),
                Signature.of(
                        "topk",
                        "x, const k = 1, const axis = -1, const ascending = false, const sort = true,"
                                + " const return_indices = true, const output_indices_dtype = int32",
                        IndexRules::topk),
                Signature.of("argsort", "x, const axis = -1, const ascending = false", IndexRules::argsort),
                Signature.of(
                        "one_hot",
                        "indices, const one_hot_vector_size, const axis = -1, const on_value = 1, const off_value = 0",
                        IndexRules::oneHot),
                Signature.of("fill", "const shape, const value = 0.0", IndexRules::fill),
                Signature.of("fill_like", "ref_tensor, const value = 0.0", IndexRules::fillLike),
                Signature.of("range_1d", "const end, const start, const step", IndexRules::range),
                Signature.of("non_zero", "x", IndexRules::nonZero));
    }

    /** The index type that an operand names: int32 unless it says otherwise. */
    static DType indexType(Call call, String parameter) {
        return switch (call.text(parameter)) {
            case "int32" -> DType.INT32;
            case "uint16" -> DType.UINT16;
            case "int16" -> DType.INT16;
            default -> throw call.refuse("'" + parameter + "' int32, int16 or uint16, not " + call.text(parameter));
        };
    }

    private static List<TensorType> sliceByIndex(Call call) {
        TensorType x = call.type("x");
        SliceWindow window = SliceWindow.of(call, x);
        return List.of(x.withShape(window.shape(call, x)));
    }

    private static List<TensorType> sliceUpdate(Call call) {
        TensorType x = call.type("x");
        call.sameElements("x", "update");
        SliceWindow window = SliceWindow.of(call, x);
        TensorType update = call.type("update");
        if (window.known()) {
            call.exactly("update", x.withShape(window.shape(call, x)));
        } else {
            int rank = window.rank();
            call.rank("update", rank, rank);
            if (rank == x.rank()) {
                for (int axis = 0; axis < rank; axis++) {
                    if (update.axis(axis) > x.axis(axis)) {
                        throw call.refuse("'update' that fits into " + x + ", not " + update);
                    }
                }
            }
        }
        return List.of(x);
    }

    private static List<TensorType> sliceBySize(Call call) {
        TensorType x = call.type("x");
        call.exactly("begin", TensorType.of(call.type("begin").dtype(), x.rank()));
        List<Integer> sizes = call.ints("size");
        if (sizes.size() != x.rank()) {
            throw call.refuse(x.rank() + " sizes, not " + sizes);
        }
        List<Integer> shape = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            int index = axis;
            int begin = call.integers("begin").map(values -> values.get(index)).orElse(0);
            begin = begin < 0 ? begin + x.axis(axis) : begin;
            if (sizes.get(axis) == -1 && call.integers("begin").isEmpty()) {
                throw call.refuse("a constant 'begin' where 'size' is -1");
            }
            int size = sizes.get(axis) == -1 ? x.axis(axis) - begin : sizes.get(axis);
            if (begin < 0 || size < 0 || size > x.axis(axis) - begin) {
                throw call.refuse(
                        "a window inside " + x + ", not begin " + begin + " and size " + size + " on axis " + axis);
            }
            shape.add(size);
        }
        return List.of(x.withShape(shape));
    }

    private static void requireIndices(Call call) {
        DType dtype = call.type("indices").dtype();
        if (dtype.isFloat() || dtype == DType.BOOL || dtype == DType.STRING) {
            throw call.refuse("integer 'indices', not " + dtype.mil());
        }
    }

    private static List<TensorType> gather(Call call) {
        requireIndices(call);
        TensorType x = call.rank("x", 1, 5);
        TensorType indices = call.type("indices");
        int axis = call.axis("axis", x.rank());
        int batch = call.integer("batch_dims");
        if (batch < 0
                || batch > axis
                || batch > indices.rank()
                || !x.shape().subList(0, batch).equals(indices.shape().subList(0, batch))) {
            throw call.refuse("'batch_dims' equal leading axes of x and indices before the axis, not " + batch);
        }
        List<Integer> shape = new ArrayList<>(x.shape().subList(0, axis));
        shape.addAll(indices.shape().subList(batch, indices.rank()));
        shape.addAll(x.shape().subList(axis + 1, x.rank()));
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> gatherAlongAxis(Call call) {
        requireIndices(call);
        TensorType x = call.rank("x", 1, 5);
        TensorType indices = call.rank("indices", x.rank(), x.rank());
        int axis = call.axis("axis", x.rank());
        requireLike(call, "indices", x, indices, axis);
        return List.of(x.withShape(indices.shape()));
    }

    private static void requireLike(Call call, String name, TensorType x, TensorType other, int axis) {
        if (!Shapes.with(x.shape(), axis, 0).equals(Shapes.with(other.shape(), axis, 0))) {
            throw call.refuse("'" + name + "' like " + x + " but for axis " + axis + ", not " + other);
        }
    }

    private static List<TensorType> gatherNd(Call call) {
        requireIndices(call);
        TensorType x = call.rank("x", 1, 5);
        TensorType indices = call.rank("indices", 1, 5);
        int batch = call.integer("batch_dims");
        int depth = indices.axis(-1);
        if (batch < 0
                || batch >= indices.rank()
                || batch + depth > x.rank()
                || !x.shape().subList(0, batch).equals(indices.shape().subList(0, batch))) {
            throw call.refuse("'indices' whose last axis addresses at most " + x.rank() + " axes, not " + depth
                    + " after " + batch);
        }
        List<Integer> shape = new ArrayList<>(indices.shape().subList(0, indices.rank() - 1));
        shape.addAll(x.shape().subList(batch + depth, x.rank()));
        return List.of(x.withShape(shape));
    }

    private static TensorType scattered(Call call) {
        requireIndices(call);
        call.sameElements("data", "updates");
        if (!SCATTER_MODES.contains(call.text("mode"))) {
            throw call.refuse("a mode of " + SCATTER_MODES + ", not " + call.text("mode"));
        }
        return call.rank("data", 1, 5);
    }

    private static List<TensorType> scatter(Call call) {
        TensorType data = scattered(call);
        int axis = call.axis("axis", data.rank());
        TensorType indices = call.rank("indices", 1, 1);
        call.exactly("updates", data.withShape(Shapes.with(data.shape(), axis, indices.axis(0))));
        return List.of(data);
    }

    private static List<TensorType> scatterAlongAxis(Call call) {
        TensorType data = scattered(call);
        TensorType indices = call.rank("indices", data.rank(), data.rank());
        requireLike(call, "indices", data, indices, call.axis("axis", data.rank()));
        call.exactly("updates", data.withShape(indices.shape()));
        return List.of(data);
    }

    private static List<TensorType> scatterNd(Call call) {
        TensorType data = scattered(call);
        TensorType indices = call.rank("indices", 1, 5);
        int depth = indices.axis(-1);
        if (depth > data.rank()) {
            throw call.refuse("'indices' whose last axis is at most " + data.rank() + ", not " + depth);
        }
        List<Integer> shape = new ArrayList<>(indices.shape().subList(0, indices.rank() - 1));
        shape.addAll(data.shape().subList(depth, data.rank()));
        call.exactly("updates", data.withShape(shape));
        return List.of(data);
    }

    private static List<TensorType> topk(Call call) {
        TensorType x = call.rank("x", 1, 5);
        int axis = call.axis("axis", x.rank());
        int k = call.integer("k");
        if (k < 1 || k > x.axis(axis)) {
            throw call.refuse("'k' from 1 to " + x.axis(axis) + ", not " + k);
        }
        TensorType values = x.withShape(Shapes.with(x.shape(), axis, k));
        return call.flag("return_indices")
                ? List.of(values, values.withDtype(indexType(call, "output_indices_dtype")))
                : List.of(values);
    }

    private static List<TensorType> argsort(Call call) {
        TensorType x = call.rank("x", 1, 5);
        call.axis("axis", x.rank());
        return List.of(x.withDtype(DType.INT32));
    }

    private static List<TensorType> oneHot(Call call) {
        requireIndices(call);
        TensorType indices = call.type("indices");
        int size = call.integer("one_hot_vector_size");
        if (size < 1) {
            throw call.refuse("a positive 'one_hot_vector_size', not " + size);
        }
        List<Integer> shape = new ArrayList<>(indices.shape());
        shape.add(call.axis("axis", indices.rank() + 1), size);
        DType dtype = call.has("on_value") ? call.type("on_value").dtype() : DType.INT32;
        return List.of(new TensorType(dtype, shape));
    }

    private static List<TensorType> fill(Call call) {
        DType dtype = call.has("value") ? call.type("value").dtype() : DType.FP32;
        List<Integer> shape = call.ints("shape");
        if (shape.stream().anyMatch(size -> size < 1)) {
            throw call.refuse("positive sizes, not " + shape);
        }
        return List.of(new TensorType(dtype, shape));
    }

    private static List<TensorType> fillLike(Call call) {
        DType dtype = call.has("value") ? call.type("value").dtype() : DType.FP32;
        return List.of(call.type("ref_tensor").withDtype(dtype));
    }

    private static List<TensorType> range(Call call) {
        double start = call.number("start");
        double end = call.number("end");
        double step = call.number("step");
        double count = step == 0 ? -1 : Math.ceil((end - start) / step);
        if (!(count >= 0 && count <= Integer.MAX_VALUE)) {
            throw call.refuse("a step that leads from start to end, not " + step + " from " + start + " to " + end);
        }
        return List.of(TensorType.of(call.type("end").dtype(), (int) count));
    }

    private static List<TensorType> nonZero(Call call) {
        throw call.refuse("a result of static shape, which non_zero has not: use a mask and select instead");
    }
}
