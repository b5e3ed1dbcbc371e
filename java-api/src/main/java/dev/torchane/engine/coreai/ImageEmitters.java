package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Convolution, pooling and resizing over spatial axes, in {@code [n, c, …]} layout; Core AI has two or three of these axes. */
final class ImageEmitters {

    private ImageEmitters() {}

    static void register(Map<String, Emitter> table) {
        table.put("conv", one(ImageEmitters::conv));
        table.put("conv_transpose", one(ImageEmitters::convTranspose));
        table.put("max_pool", one(ImageEmitters::maxPool));
        table.put("avg_pool", one(call -> averaged(call, sumPool(call, call.in("x")))));
        table.put(
                "l2_pool",
                one(call -> call.ir().unary("sqrt", sumPool(call, call.ir().mul(call.in("x"), call.in("x"))))));
        table.put("upsample_nearest_neighbor", one(ImageEmitters::nearest));
        table.put("upsample_bilinear", one(ImageEmitters::bilinear));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    /** A window over the spatial axes of x, of which there are two at least: {@code [n, c, w]} counts as {@code [n, c, 1, w]}. */
    private record Window(List<Integer> kernel, List<Integer> strides, List<Integer> dilations, List<Integer> before) {

        static Window of(OperationCall call, TensorType x, List<Integer> kernel) {
            int spatial = x.rank() - 2;
            List<Integer> ones = Collections.nCopies(spatial, 1);
            List<Integer> strides = call.ints("strides", ones);
            List<Integer> dilations = call.ints("dilations", ones);
            List<Integer> pad = call.ints("pad", Collections.nCopies(2 * spatial, 0));
            List<Integer> before = new ArrayList<>();
            for (int axis = 0; axis < spatial; axis++) {
                int reach = (kernel.get(axis) - 1) * dilations.get(axis) + 1;
                int size = x.axis(axis + 2);
                int step = strides.get(axis);
                int padding = Math.max(0, (Math.ceilDiv(size, step) - 1) * step + reach - size);
                before.add(
                        switch (call.text("pad_type")) {
                            case "custom" -> pad.get(2 * axis);
                            case "same" -> padding / 2;
                            case "same_lower" -> padding - padding / 2;
                            default -> 0;
                        });
            }
            return spatial == 1
                    ? new Window(plane(kernel, 1), plane(strides, 1), plane(dilations, 1), plane(before, 0))
                    : new Window(kernel, strides, dilations, before);
        }

        private static List<Integer> plane(List<Integer> one, int filler) {
            return List.of(filler, one.getFirst());
        }

        int axes() {
            return kernel.size();
        }

        int reach(int axis) {
            return (kernel.get(axis) - 1) * dilations.get(axis) + 1;
        }

        /** x with so much around it, and no more, that windows give {@code out}. */
        Ref around(Ir ir, Ref x, List<Integer> out, double filler) {
            List<Integer> pad = new ArrayList<>(List.of(0, 0, 0, 0));
            List<Integer> end = new ArrayList<>(x.shape().subList(0, 2));
            for (int axis = 0; axis < axes(); axis++) {
                int needed = (out.get(axis + 2) - 1) * strides.get(axis) + reach(axis);
                pad.add(before.get(axis));
                pad.add(Math.max(0, needed - before.get(axis) - x.type().axis(axis + 2)));
                end.add(needed);
            }
            Ref padded = ir.pad(x, pad, "constant", filler);
            return ir.slice(padded, Collections.nCopies(x.rank(), 0), end);
        }
    }

    /** The shape with a spatial axis of size 1 put in where there is only one. */
    private static List<Integer> plane(List<Integer> shape) {
        if (shape.size() > 3) {
            return shape;
        }
        List<Integer> wide = new ArrayList<>(shape);
        wide.add(2, 1);
        return wide;
    }

    private static Ref plane(Ir ir, Ref x) {
        return ir.reshape(x, plane(x.shape()));
    }

    private static Ref biased(OperationCall call, Ref planes) {
        Ref result = call.ir().reshape(planes, call.type().shape());
        return call.has("bias") ? call.ir().add(result, ElementwiseEmitters.channels(call, call.in("bias"))) : result;
    }

    private static Ref conv(OperationCall call) {
        Ir ir = call.ir();
        Ref weight = call.in("weight");
        Window window = Window.of(call, call.in("x").type(), weight.shape().subList(2, weight.rank()));
        List<Integer> out = plane(call.type().shape());
        Ref x = window.around(ir, plane(ir, call.in("x")), out, 0);
        return biased(
                call,
                ir.op(
                        "conv" + window.axes() + "d",
                        x.type().withShape(out),
                        x,
                        plane(ir, weight),
                        ir.sizes(window.strides()),
                        ir.sizes(window.dilations()),
                        ir.scalar(DType.UINT32, call.integer("groups"))));
    }

    /** The whole result without padding, of which what was asked for is cut out, or which grows by zeros. */
    private static Ref convTranspose(OperationCall call) {
        Ir ir = call.ir();
        Ref weight = call.in("weight");
        Window window = Window.of(call, call.in("x").type(), weight.shape().subList(2, weight.rank()));
        Ref x = plane(ir, call.in("x"));
        List<Integer> out = plane(call.type().shape());
        List<Integer> full = new ArrayList<>(out.subList(0, 2));
        List<Integer> pad = new ArrayList<>(List.of(0, 0, 0, 0));
        List<Integer> begin = new ArrayList<>(List.of(0, 0));
        List<Integer> end = new ArrayList<>(out.subList(0, 2));
        for (int axis = 0; axis < window.axes(); axis++) {
            int size = (x.type().axis(axis + 2) - 1) * window.strides().get(axis) + window.reach(axis);
            int from = window.before().get(axis);
            full.add(size);
            pad.add(0);
            pad.add(Math.max(0, from + out.get(axis + 2) - size));
            begin.add(from);
            end.add(from + out.get(axis + 2));
        }
        Ref none = ir.sizes(Collections.nCopies(window.axes(), 0));
        Ref whole = ir.op(
                "conv_transpose" + window.axes() + "d",
                x.type().withShape(full),
                x,
                plane(ir, weight),
                ir.sizes(window.strides()),
                none,
                ir.sizes(window.dilations()),
                none,
                ir.scalar(DType.UINT32, call.integer("groups")));
        return biased(call, ir.slice(ir.pad(whole, pad, "constant", 0), begin, end));
    }

    private static Ref maxPool(OperationCall call) {
        Ir ir = call.ir();
        Window window = Window.of(call, call.in("x").type(), call.ints("kernel_sizes"));
        List<Integer> out = plane(call.type().shape());
        Ref x = window.around(ir, plane(ir, call.in("x")), out, Double.NEGATIVE_INFINITY);
        Ref pooled = ir.op(
                "max_pool_" + window.axes() + "d",
                x.type().withShape(out),
                x,
                ir.sizes(window.kernel()),
                ir.sizes(window.strides()),
                ir.sizes(window.dilations()),
                ir.scalar(DType.BOOL, 0));
        return ir.reshape(pooled, call.type().shape());
    }

    /** Sums of the windows of images as large as x. */
    private static Ref sumPool(OperationCall call, Ref images) {
        Ir ir = call.ir();
        Window window = Window.of(call, call.in("x").type(), call.ints("kernel_sizes"));
        List<Integer> out = new ArrayList<>(call.type().shape());
        out.set(0, images.type().axis(0));
        out.set(1, images.type().axis(1));
        Ref around = window.around(ir, plane(ir, images), plane(out), 0);
        Ref pooled = ir.op(
                "sum_pool_" + window.axes() + "d",
                around.type().withShape(plane(out)),
                around,
                ir.sizes(window.kernel()),
                ir.sizes(window.strides()),
                ir.sizes(window.dilations()));
        return ir.reshape(pooled, out);
    }

    private static Ref averaged(OperationCall call, Ref sums) {
        Ir ir = call.ir();
        if (!call.flag("exclude_padding_from_average")) {
            int taps = call.ints("kernel_sizes").stream().reduce(1, (a, b) -> a * b);
            return ir.binary("divide", sums, taps);
        }
        List<Integer> one = new ArrayList<>(call.in("x").shape());
        one.set(0, 1);
        one.set(1, 1);
        Ref ones = ir.broadcastTo(ir.scalar(sums.dtype(), 1), one);
        return ir.binary("divide", sums, sumPool(call, ones));
    }

    /** Picks rows, then columns. */
    private static Ref nearest(OperationCall call) {
        Ref x = call.in("x");
        for (int axis = x.rank() - 2; axis < x.rank(); axis++) {
            int from = x.type().axis(axis);
            int to = call.type().axis(axis);
            List<Integer> places = new ArrayList<>();
            for (int i = 0; i < to; i++) {
                places.add((int) ((long) i * from / to));
            }
            x = picked(call.ir(), x, axis, places);
        }
        return x;
    }

    private static Ref picked(Ir ir, Ref x, int axis, List<Integer> places) {
        if (places.equals(Ir.range(x.type().axis(axis)))) {
            return x;
        }
        List<Integer> shape = new ArrayList<>(x.shape());
        shape.set(axis, places.size());
        List<Integer> line = new ArrayList<>(Collections.nCopies(x.rank(), 1));
        line.set(axis, places.size());
        Ref indices = ir.broadcastTo(ir.reshape(ir.positions(places), line), shape);
        return ir.op("gather_along_axis", x.type().withShape(shape), x, indices, ir.scalar(DType.INT32, axis));
    }

    /** Along rows, then columns: two neighbours, mixed. */
    private static Ref bilinear(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        boolean corners = call.flag("align_corners");
        boolean centres = call.has("half_pixel_centers") ? call.flag("half_pixel_centers") : !corners;
        for (int axis = x.rank() - 2; axis < x.rank(); axis++) {
            int from = x.type().axis(axis);
            int to = call.type().axis(axis);
            List<Integer> low = new ArrayList<>();
            List<Integer> high = new ArrayList<>();
            List<Double> mix = new ArrayList<>();
            for (int i = 0; i < to; i++) {
                double place = place(i, from, to, corners, centres);
                low.add((int) place);
                high.add(Math.min((int) place + 1, from - 1));
                mix.add(x.dtype().rounded(place - (int) place));
            }
            List<Integer> line = new ArrayList<>(Collections.nCopies(x.rank(), 1));
            line.set(axis, to);
            Ref share = ir.constant(x.type().withShape(line), mix);
            Ref lower = picked(ir, x, axis, low);
            x = ir.add(lower, ir.mul(ir.sub(picked(ir, x, axis, high), lower), share));
        }
        return x;
    }

    private static double place(int position, int size, int outSize, boolean corners, boolean centres) {
        if (corners) {
            return outSize == 1 ? 0 : (double) position * (size - 1) / (outSize - 1);
        }
        double scale = (double) size / outSize;
        return Math.clamp(centres ? (position + 0.5) * scale - 0.5 : position * scale, 0, size - 1);
    }
}
