package dev.torchane.program;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Operations that rearrange elements. */
final class ShapeRules {

    private ShapeRules() {}

    static List<Signature> signatures() {
        return List.of(
                Signature.of("reshape", "x, const shape", ShapeRules::reshape),
                Signature.of("transpose", "x, const perm", ShapeRules::transpose),
                Signature.of("expand_dims", "x, const axes", ShapeRules::expandDims),
                Signature.of("squeeze", "x, const axes?", ShapeRules::squeeze),
                Signature.of("concat", "values..., const axis, const interleave = false", ShapeRules::concat),
                Signature.of("stack", "values..., const axis", ShapeRules::stack),
                Signature.of("split", "x, const num_splits?, const split_sizes?, const axis", ShapeRules::split),
                Signature.of("tile", "x, const reps", ShapeRules::tile),
                Signature.of("pad", "x, const pad, const mode = constant, const constant_val = 0.0", ShapeRules::pad),
                Signature.of("reverse", "x, const axes?", ShapeRules::reverse),
                Signature.of("band_part", "x, const lower = -1, const upper = -1", ShapeRules::bandPart),
                Signature.of("shape", "x", ShapeRules::shape),
                Signature.of("pixel_shuffle", "x, const upscale_factor", ShapeRules::spaceFromDepth),
                Signature.of("pixel_unshuffle", "x, const downscale_factor", ShapeRules::depthFromSpace),
                Signature.of("depth_to_space", "x, const block_size", ShapeRules::spaceFromDepth),
                Signature.of("space_to_depth", "x, const block_size", ShapeRules::depthFromSpace));
    }

    /** One {@code -1} is computed; a {@code 0} takes x's axis at the same place from the right (iOS 17). */
    private static List<TensorType> reshape(Call call) {
        TensorType x = call.type("x");
        List<Integer> shape = new ArrayList<>(call.ints("shape"));
        for (int i = 0; i < shape.size(); i++) {
            if (shape.get(i) == 0) {
                int axis = x.rank() - (shape.size() - i);
                shape.set(i, axis < 0 ? 1 : x.axis(axis));
            }
        }
        int open = shape.indexOf(-1);
        if (open >= 0) {
            shape.set(open, 1);
            if (shape.stream().noneMatch(size -> size < 1)) {
                long known = Shapes.elements(shape);
                shape.set(open, x.elements() % known == 0 ? Shapes.size(call, x.elements() / known) : -1);
            }
        }
        if (shape.stream().anyMatch(size -> size < 0) || Shapes.elements(shape) != x.elements()) {
            throw call.refuse("a shape of " + x.elements() + " elements, not " + call.ints("shape"));
        }
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> transpose(Call call) {
        TensorType x = call.type("x");
        List<Integer> perm = call.axes("perm", x.rank());
        if (perm.size() != x.rank()) {
            throw call.refuse("'perm' to name all " + x.rank() + " axes, not " + call.ints("perm"));
        }
        return List.of(x.withShape(perm.stream().map(x::axis).toList()));
    }

    private static List<TensorType> expandDims(Call call) {
        TensorType x = call.type("x");
        int rank = x.rank() + call.ints("axes").size();
        List<Integer> axes = new ArrayList<>(call.axes("axes", rank));
        Collections.sort(axes);
        List<Integer> shape = new ArrayList<>(x.shape());
        axes.forEach(axis -> shape.add(axis, 1));
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> squeeze(Call call) {
        TensorType x = call.type("x");
        List<Integer> axes = call.has("axes") ? call.axes("axes", x.rank()) : List.of();
        List<Integer> shape = new ArrayList<>();
        for (int i = 0; i < x.rank(); i++) {
            if (axes.contains(i) && x.axis(i) != 1) {
                throw call.refuse("axis " + i + " of size 1, not " + x.axis(i));
            }
            boolean removed = axes.contains(i) || (!call.has("axes") && x.axis(i) == 1);
            if (!removed) {
                shape.add(x.axis(i));
            }
        }
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> concat(Call call) {
        List<TensorType> values = call.types("values");
        TensorType first = values.getFirst();
        int axis = call.axis("axis", first.rank());
        boolean interleave = call.flag("interleave");
        long size = 0;
        for (TensorType value : values) {
            boolean fits = value.dtype() == first.dtype()
                    && value.rank() == first.rank()
                    && Shapes.with(value.shape(), axis, 0).equals(Shapes.with(first.shape(), axis, 0))
                    && (!interleave || value.axis(axis) == first.axis(axis));
            if (!fits) {
                throw call.refuse(
                        "values like " + first + (interleave ? "" : " but for axis " + axis) + ", not " + value);
            }
            size += value.axis(axis);
        }
        return List.of(first.withShape(Shapes.with(first.shape(), axis, Shapes.size(call, size))));
    }

    private static List<TensorType> stack(Call call) {
        List<TensorType> values = call.types("values");
        TensorType first = values.getFirst();
        for (TensorType value : values) {
            if (!value.equals(first)) {
                throw call.refuse("values of type " + first + ", not " + value);
            }
        }
        List<Integer> shape = new ArrayList<>(first.shape());
        shape.add(call.axis("axis", first.rank() + 1), values.size());
        return List.of(first.withShape(shape));
    }

    private static List<TensorType> split(Call call) {
        TensorType x = call.rank("x", 1, 5);
        int axis = call.axis("axis", x.rank());
        List<Integer> sizes;
        if (call.has("split_sizes")) {
            sizes = call.ints("split_sizes");
        } else {
            int count = call.integer("num_splits");
            if (count < 1 || x.axis(axis) % count != 0) {
                throw call.refuse("'num_splits' that divides " + x.axis(axis) + ", not " + count);
            }
            sizes = Collections.nCopies(count, x.axis(axis) / count);
        }
        boolean fits = sizes.stream().allMatch(size -> size >= 0)
                && sizes.stream().mapToLong(Integer::longValue).sum() == x.axis(axis);
        if (!fits) {
            throw call.refuse("'split_sizes' that sum to " + x.axis(axis) + ", not " + sizes);
        }
        return sizes.stream()
                .map(size -> x.withShape(Shapes.with(x.shape(), axis, size)))
                .toList();
    }

    private static List<TensorType> tile(Call call) {
        TensorType x = call.type("x");
        List<Integer> reps = call.ints("reps");
        if (reps.size() != x.rank() || reps.stream().anyMatch(rep -> rep < 1)) {
            throw call.refuse(x.rank() + " positive 'reps', not " + reps);
        }
        return List.of(x.withShape(IntStream.range(0, x.rank())
                .mapToObj(i -> Shapes.size(call, (long) x.axis(i) * reps.get(i)))
                .toList()));
    }

    private static List<TensorType> pad(Call call) {
        TensorType x = call.type("x");
        List<Integer> pad = call.ints("pad");
        String mode = call.text("mode");
        if (!List.of("constant", "reflect", "replicate").contains(mode)) {
            throw call.refuse("mode constant, reflect or replicate, not " + mode);
        }
        if (pad.size() % 2 != 0 || pad.size() > 2 * x.rank() || pad.stream().anyMatch(size -> size < 0)) {
            throw call.refuse("'pad' with two sizes for each of the last axes of " + x + ", not " + pad);
        }
        List<Integer> shape = new ArrayList<>(x.shape());
        int first = x.rank() - pad.size() / 2;
        for (int i = 0; i < pad.size(); i += 2) {
            int axis = first + i / 2;
            int most = Math.max(pad.get(i), pad.get(i + 1));
            if (mode.equals("reflect") && most >= x.axis(axis)) {
                throw call.refuse("reflection by less than the axis of " + x.axis(axis) + ", not " + most);
            }
            shape.set(axis, Shapes.size(call, (long) x.axis(axis) + pad.get(i) + pad.get(i + 1)));
        }
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> reverse(Call call) {
        if (call.has("axes")) {
            call.axes("axes", call.type("x").rank());
        }
        return List.of(call.type("x"));
    }

    private static List<TensorType> bandPart(Call call) {
        call.integer("lower");
        call.integer("upper");
        return List.of(call.rank("x", 2, 5));
    }

    private static List<TensorType> shape(Call call) {
        return List.of(TensorType.of(DType.INT32, call.rank("x", 1, 5).rank()));
    }

    /** {@code [n, c·f², h, w]} to {@code [n, c, h·f, w·f]}. */
    private static List<TensorType> spaceFromDepth(Call call) {
        TensorType x = call.rank("x", 4, 4);
        int factor = factor(call);
        if (x.axis(1) % (factor * factor) != 0) {
            throw call.refuse("channels that " + factor * factor + " divides, not " + x.axis(1));
        }
        return List.of(x.withShape(List.of(
                x.axis(0),
                x.axis(1) / (factor * factor),
                Shapes.size(call, (long) x.axis(2) * factor),
                Shapes.size(call, (long) x.axis(3) * factor))));
    }

    /** {@code [n, c, h·f, w·f]} to {@code [n, c·f², h, w]}. */
    private static List<TensorType> depthFromSpace(Call call) {
        TensorType x = call.rank("x", 4, 4);
        int factor = factor(call);
        if (x.axis(2) % factor != 0 || x.axis(3) % factor != 0) {
            throw call.refuse("height and width that " + factor + " divides, not those of " + x);
        }
        return List.of(x.withShape(List.of(
                x.axis(0),
                Shapes.size(call, (long) x.axis(1) * factor * factor),
                x.axis(2) / factor,
                x.axis(3) / factor)));
    }

    private static int factor(Call call) {
        String parameter = switch (call.kind()) {
            case "pixel_shuffle" -> "upscale_factor";
            case "pixel_unshuffle" -> "downscale_factor";
            default -> "block_size";
        };
        int factor = call.integer(parameter);
        if (factor < 1 || factor > 1024) {
            throw call.refuse("'" + parameter + "' from 1 to 1024, not " + factor);
        }
        return factor;
    }
}
