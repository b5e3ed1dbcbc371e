package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Operations that rearrange elements. */
final class ShapeEmitters {

    private ShapeEmitters() {}

    static void register(Map<String, Emitter> table) {
        Emitter.One reshape =
                call -> call.ir().reshape(call.in("x"), call.type().shape());
        table.put("reshape", reshape);
        table.put("expand_dims", reshape);
        table.put("squeeze", reshape);
        table.put(
                "transpose",
                one(call -> call.ir()
                        .transpose(
                                call.in("x"),
                                call.ints("perm").stream()
                                        .map(axis ->
                                                Math.floorMod(axis, call.in("x").rank()))
                                        .toList())));
        table.put("concat", one(ShapeEmitters::concat));
        table.put(
                "stack",
                one(call -> joined(
                        call, call.all("values"), call.axis("axis", call.type().rank()))));
        table.put("split", ShapeEmitters::split);
        table.put(
                "tile",
                one(call -> call.ir()
                        .op("tile", call.type(), call.in("x"), call.ir().sizes(call.ints("reps")))));
        table.put("pad", one(ShapeEmitters::pad));
        table.put(
                "reverse",
                one(call -> call.ir()
                        .op(
                                "reverse",
                                call.type(),
                                call.in("x"),
                                call.ir()
                                        .positions(
                                                call.axes("axes", call.in("x").rank())))));
        table.put("band_part", one(ShapeEmitters::bandPart));
        table.put("shape", one(call -> call.ir().positions(call.in("x").shape())));
        table.put("pixel_shuffle", one(call -> fromDepth(call, call.integer("upscale_factor"), false)));
        table.put("pixel_unshuffle", one(call -> toDepth(call, call.integer("downscale_factor"), false)));
        table.put("depth_to_space", one(call -> fromDepth(call, call.integer("block_size"), true)));
        table.put("space_to_depth", one(call -> toDepth(call, call.integer("block_size"), true)));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    private static Ref concat(OperationCall call) {
        List<Ref> values = call.all("values");
        int axis = call.axis("axis", call.type().rank());
        if (call.flag("interleave")) {
            return call.ir().reshape(joined(call, values, axis + 1), call.type().shape());
        }
        return values.size() == 1 ? values.getFirst() : call.ir().concat(axis, values);
    }

    /** Joins values along a new axis. */
    private static Ref joined(OperationCall call, List<Ref> values, int axis) {
        List<Ref> wide = new ArrayList<>();
        for (Ref value : values) {
            List<Integer> shape = new ArrayList<>(value.shape());
            shape.add(axis, 1);
            wide.add(call.ir().reshape(value, shape));
        }
        return call.ir().concat(axis, wide);
    }

    private static List<Ref> split(OperationCall call) {
        Ref x = call.in("x");
        int axis = call.axis("axis", x.rank());
        List<Ref> parts = new ArrayList<>();
        int from = 0;
        for (var type : call.types()) {
            List<Integer> begin = new ArrayList<>(Collections.nCopies(x.rank(), 0));
            List<Integer> end = new ArrayList<>(x.shape());
            begin.set(axis, from);
            from += type.axis(axis);
            end.set(axis, from);
            parts.add(call.ir().slice(x, begin, end));
        }
        return parts;
    }

    private static Ref pad(OperationCall call) {
        Ref x = call.in("x");
        List<Integer> given = call.ints("pad");
        List<Integer> pad = new ArrayList<>(Collections.nCopies(2 * x.rank() - given.size(), 0));
        pad.addAll(given);
        double value = call.numbers("constant_val").map(List::getFirst).orElse(0.0);
        return call.ir().pad(x, pad, call.text("mode"), value);
    }

    /** x where {@code column − row} lies within the band. */
    private static Ref bandPart(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref row = ir.iota(x.type().axis(-2), 0, 2);
        Ref column = ir.iota(x.type().axis(-1), 1, 2);
        Ref zero = ir.scalar(x.dtype(), 0);
        Ref result = x;
        if (call.integer("lower") >= 0) {
            Ref far = ir.compare("greater", ir.sub(row, column), ir.scalar(DType.INT32, call.integer("lower")));
            result = ir.where(far, zero, result);
        }
        if (call.integer("upper") >= 0) {
            Ref far = ir.compare("greater", ir.sub(column, row), ir.scalar(DType.INT32, call.integer("upper")));
            result = ir.where(far, zero, result);
        }
        return result;
    }

    /** {@code [n, c·f², h, w]} to {@code [n, c, h·f, w·f]}; the block's axes stand before the channel's or behind it. */
    private static Ref fromDepth(OperationCall call, int factor, boolean blockFirst) {
        Ref x = call.in("x");
        List<Integer> out = call.type().shape();
        int h = x.type().axis(2);
        int w = x.type().axis(3);
        List<Integer> cut = blockFirst
                ? List.of(out.get(0), factor, factor, out.get(1), h, w)
                : List.of(out.get(0), out.get(1), factor, factor, h, w);
        List<Integer> perm = blockFirst ? List.of(0, 3, 4, 1, 5, 2) : List.of(0, 1, 4, 2, 5, 3);
        return call.ir().reshape(call.ir().transpose(call.ir().reshape(x, cut), perm), out);
    }

    private static Ref toDepth(OperationCall call, int factor, boolean blockFirst) {
        Ref x = call.in("x");
        List<Integer> out = call.type().shape();
        List<Integer> cut = List.of(out.get(0), x.type().axis(1), out.get(2), factor, out.get(3), factor);
        List<Integer> perm = blockFirst ? List.of(0, 3, 5, 1, 2, 4) : List.of(0, 1, 3, 5, 2, 4);
        return call.ir().reshape(call.ir().transpose(call.ir().reshape(x, cut), perm), out);
    }
}
