package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Operations that pick, place or make elements by position. */
final class IndexEmitters {

    private IndexEmitters() {}

    static void register(Map<String, Emitter> table) {
        table.put("slice_by_index", one(IndexEmitters::sliceByIndex));
        table.put("slice_by_size", one(IndexEmitters::sliceBySize));
        table.put("slice_update", one(IndexEmitters::sliceUpdate));
        table.put("gather", one(IndexEmitters::gather));
        table.put("gather_along_axis", one(call -> along(call, call.in("x"), indices(call))));
        table.put(
                "gather_nd", one(call -> gatherNd(call.ir(), call.in("x"), indices(call), call.integer("batch_dims"))));
        table.put("scatter", one(IndexEmitters::scatter));
        table.put(
                "scatter_along_axis",
                one(call -> scattered(
                        call,
                        call.in("data"),
                        indices(call),
                        call.in("updates"),
                        call.axis("axis", call.type().rank()))));
        table.put("scatter_nd", one(IndexEmitters::scatterNd));
        table.put("topk", IndexEmitters::topk);
        table.put(
                "argsort",
                one(call -> sorted(
                        call, call.in("x"), call.axis("axis", call.in("x").rank()))));
        table.put("one_hot", one(IndexEmitters::oneHot));
        table.put(
                "fill",
                one(call -> call.ir()
                        .broadcastTo(
                                call.ir().scalar(call.type().dtype(), call.number("value")),
                                call.type().shape())));
        table.put("fill_like", table.get("fill"));
        table.put("range_1d", one(IndexEmitters::range));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    private static Ref indices(OperationCall call) {
        return call.ir().cast(call.in("indices"), DType.INT32);
    }

    /** Begin, end and strides of a window, with what its masks mean written out. */
    private static Ref[] window(OperationCall call, Ref x) {
        Ir ir = call.ir();
        List<Integer> none = Collections.nCopies(x.rank(), 0);
        List<Integer> strides = call.ints("stride", Collections.nCopies(x.rank(), 1));
        List<Integer> openBegin = call.ints("begin_mask", none);
        List<Integer> openEnd = call.ints("end_mask", none);
        List<Integer> squeezed = call.ints("squeeze_mask", none);
        boolean masked = openBegin.contains(1) || openEnd.contains(1) || squeezed.contains(1);
        if (call.maybeInts("begin").isEmpty() || call.maybeInts("end").isEmpty()) {
            if (masked) {
                throw call.refuse("a window that moves has masks; write its begin and end out");
            }
            return new Ref[] {
                ir.cast(call.in("begin"), DType.INT32), ir.cast(call.in("end"), DType.INT32), ir.positions(strides)
            };
        }
        List<Integer> begin = new ArrayList<>();
        List<Integer> end = new ArrayList<>();
        List<Integer> steps = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            int size = x.type().axis(axis);
            int step = squeezed.get(axis) != 0 ? 1 : strides.get(axis);
            int from = openBegin.get(axis) != 0
                    ? (step > 0 ? 0 : size - 1)
                    : call.ints("begin").get(axis);
            int to = openEnd.get(axis) != 0
                    ? (step > 0 ? size : -size - 1)
                    : call.ints("end").get(axis);
            if (squeezed.get(axis) != 0) {
                from = Math.floorMod(from, size);
                to = from + 1;
            }
            begin.add(from);
            end.add(to);
            steps.add(step);
        }
        return new Ref[] {ir.positions(begin), ir.positions(end), ir.positions(steps)};
    }

    /** The shape of a window before axes are squeezed. */
    private static List<Integer> whole(OperationCall call, Ref x, List<Integer> shape) {
        List<Integer> squeezed = call.ints("squeeze_mask", Collections.nCopies(x.rank(), 0));
        List<Integer> whole = new ArrayList<>(shape);
        for (int axis = 0; axis < x.rank(); axis++) {
            if (squeezed.get(axis) != 0) {
                whole.add(axis, 1);
            }
        }
        return whole;
    }

    private static Ref sliceByIndex(OperationCall call) {
        Ref x = call.in("x");
        Ref[] window = window(call, x);
        List<Integer> shape = whole(call, x, call.type().shape());
        Ref sliced = call.ir().op("slice", x.type().withShape(shape), x, window[0], window[1], window[2]);
        return call.ir().reshape(sliced, call.type().shape());
    }

    private static Ref sliceBySize(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        if (call.maybeInts("begin").isPresent()) {
            List<Integer> begin = new ArrayList<>();
            List<Integer> end = new ArrayList<>();
            for (int axis = 0; axis < x.rank(); axis++) {
                int from = call.ints("begin").get(axis);
                begin.add(from < 0 ? from + x.type().axis(axis) : from);
                end.add(begin.get(axis) + call.type().axis(axis));
            }
            return ir.slice(x, begin, end);
        }
        Ref begin = ir.cast(call.in("begin"), DType.INT32);
        Ref end = ir.add(begin, ir.positions(call.type().shape()));
        return ir.op("slice", call.type(), x, begin, end, ir.positions(Collections.nCopies(x.rank(), 1)));
    }

    private static Ref sliceUpdate(OperationCall call) {
        Ref x = call.in("x");
        Ref[] window = window(call, x);
        Ref update = call.in("update");
        update = call.ir().reshape(update, whole(call, x, update.shape()));
        return call.ir().op("slice_update", x.type(), x, window[0], window[1], window[2], update);
    }

    /** Axes {@code [batch.., axis]} of x come first, what is picked too; then they go where x had the axis. */
    private static Ref gather(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref indices = indices(call);
        int axis = call.axis("axis", x.rank());
        int batch = call.integer("batch_dims");
        List<Integer> first = new ArrayList<>(Ir.range(x.rank()));
        first.remove(axis);
        first.add(batch, axis);
        List<Integer> deep = new ArrayList<>(indices.shape());
        deep.add(1);
        Ref picked = gatherNd(ir, ir.transpose(x, first), ir.reshape(indices, deep), batch);
        int own = indices.rank() - batch;
        int before = axis - batch;
        List<Integer> perm = new ArrayList<>(Ir.range(batch));
        for (int i = 0; i < before; i++) {
            perm.add(batch + own + i);
        }
        for (int i = 0; i < own; i++) {
            perm.add(batch + i);
        }
        for (int i = batch + own + before; i < picked.rank(); i++) {
            perm.add(i);
        }
        return ir.transpose(picked, perm);
    }

    /** Core AI's has no batch: the positions of the batch become part of each index. */
    private static Ref gatherNd(Ir ir, Ref x, Ref indices, int batch) {
        Ref whole = indices;
        if (batch > 0) {
            List<Integer> one = new ArrayList<>(indices.shape());
            one.set(indices.rank() - 1, 1);
            List<Ref> parts = new ArrayList<>();
            for (int axis = 0; axis < batch; axis++) {
                parts.add(ir.broadcastTo(ir.iota(x.type().axis(axis), axis, indices.rank()), one));
            }
            parts.add(indices);
            whole = ir.concat(indices.rank() - 1, parts);
        }
        List<Integer> shape = new ArrayList<>(whole.shape().subList(0, whole.rank() - 1));
        shape.addAll(x.shape().subList(whole.type().axis(-1), x.rank()));
        return ir.op("gather_nd", x.type().withShape(shape), x, whole);
    }

    private static Ref along(OperationCall call, Ref x, Ref indices) {
        Ref axis = call.ir().scalar(DType.INT32, call.axis("axis", x.rank()));
        return call.ir().op("gather_along_axis", x.type().withShape(indices.shape()), x, indices, axis);
    }

    private static Ref scattered(OperationCall call, Ref data, Ref indices, Ref updates, int axis) {
        String mode = "{scatter_mode = #coreai.scatter_mode<" + call.text("mode") + ">}";
        return call.ir()
                .op(
                        "scatter_along_axis",
                        mode,
                        data.type(),
                        data,
                        indices,
                        updates,
                        call.ir().scalar(DType.INT32, axis));
    }

    private static Ref scatter(OperationCall call) {
        Ir ir = call.ir();
        Ref updates = call.in("updates");
        int axis = call.axis("axis", updates.rank());
        List<Integer> line = new ArrayList<>(Collections.nCopies(updates.rank(), 1));
        line.set(axis, updates.type().axis(axis));
        Ref indices = ir.broadcastTo(ir.reshape(indices(call), line), updates.shape());
        return scattered(call, call.in("data"), indices, updates, axis);
    }

    /** Core AI's replaces only: the addressed axes become one, along which values are scattered. */
    private static Ref scatterNd(OperationCall call) {
        Ir ir = call.ir();
        Ref data = call.in("data");
        Ref indices = indices(call);
        int depth = indices.type().axis(-1);
        int count = (int) (indices.type().elements() / depth);
        int rows = elements(data.shape().subList(0, depth));
        int columns = elements(data.shape().subList(depth, data.rank()));
        List<Integer> sizes = data.shape().subList(0, depth);
        List<Integer> strides = new ArrayList<>(Collections.nCopies(depth, 1));
        for (int axis = depth - 2; axis >= 0; axis--) {
            strides.set(axis, strides.get(axis + 1) * sizes.get(axis + 1));
        }
        Ref flat = ir.reshape(indices, List.of(count, depth));
        Ref wrapped = ir.where(
                ir.compare("greater", ir.scalar(DType.INT32, 0), flat), ir.add(flat, ir.positions(sizes)), flat);
        Ref row = ir.reduce("sum", ir.mul(wrapped, ir.positions(strides)), List.of(1));
        Ref result = scattered(
                call,
                ir.reshape(data, List.of(rows, columns)),
                ir.broadcastTo(row, List.of(count, columns)),
                ir.reshape(call.in("updates"), List.of(count, columns)),
                0);
        return ir.reshape(result, data.shape());
    }

    private static int elements(List<Integer> shape) {
        return shape.stream().reduce(1, (a, b) -> a * b);
    }

    /** Positions of the elements in order along an axis; equal ones keep theirs. */
    private static Ref sorted(OperationCall call, Ref x, int axis) {
        Ir ir = call.ir();
        Ref descending = ir.scalar(DType.BOOL, call.flag("ascending") ? 0 : 1);
        return ir.op(
                "argsort",
                x.type().withDtype(DType.INT32),
                x,
                ir.scalar(DType.INT32, axis),
                descending,
                ir.scalar(DType.BOOL, 1));
    }

    private static List<Ref> topk(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        int axis = call.axis("axis", x.rank());
        Ref order = ir.slice(
                sorted(call, x, axis),
                Collections.nCopies(x.rank(), 0),
                call.type().shape());
        List<Ref> results = new ArrayList<>(List.of(along(call, x, order)));
        if (call.types().size() > 1) {
            results.add(ir.cast(order, call.types().get(1).dtype()));
        }
        return results;
    }

    private static Ref oneHot(OperationCall call) {
        Ir ir = call.ir();
        TensorType type = call.type();
        int axis = call.axis("axis", type.rank());
        List<Integer> wide = new ArrayList<>(call.in("indices").shape());
        wide.add(axis, 1);
        Ref places = ir.iota(type.axis(axis), axis, type.rank());
        Ref hot = ir.compare("equal", ir.reshape(indices(call), wide), places);
        return ir.where(
                hot,
                ir.scalar(type.dtype(), call.number("on_value")),
                ir.scalar(type.dtype(), call.number("off_value")));
    }

    private static Ref range(OperationCall call) {
        double start = call.number("start");
        double step = call.number("step");
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < call.type().axis(0); i++) {
            values.add(call.type().dtype().rounded(start + i * step));
        }
        return call.ir().constant(call.type(), values);
    }
}
