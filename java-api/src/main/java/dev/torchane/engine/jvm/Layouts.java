package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Operations that move elements without changing them; those that leave the order alone cost nothing. */
final class Layouts {

    private Layouts() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        for (String kind : List.of("reshape", "expand_dims", "squeeze", "flatten2d", "identity")) {
            table.put(kind, context -> context.alias(context.raw("x"), 0));
        }
        table.put("transpose", Layouts::transpose);
        table.put("concat", Layouts::concat);
        table.put("stack", Layouts::stack);
        table.put("split", Layouts::split);
        table.put("slice_by_index", Layouts::sliceByIndex);
        table.put("slice_by_size", Layouts::sliceBySize);
        table.put("slice_update", Layouts::sliceUpdate);
        table.put("tile", Layouts::tile);
        table.put("pad", Layouts::pad);
        table.put("reverse", Layouts::reverse);
        table.put("fill", Layouts::fill);
        table.put("fill_like", Layouts::fill);
        table.put("shape", context -> {
            int[] shape = context.raw("x").shape();
            float[] values = new float[shape.length];
            for (int i = 0; i < shape.length; i++) {
                values[i] = shape[i];
            }
            context.alias(Operand.constant(context.results().getFirst().type(), values), 0);
        });
        table.put("space_to_depth", context -> depth(context, context.integer("block_size", 1), false, false));
        table.put("depth_to_space", context -> depth(context, context.integer("block_size", 1), true, false));
        table.put("pixel_shuffle", context -> depth(context, context.integer("upscale_factor", 1), true, true));
        table.put("pixel_unshuffle", context -> depth(context, context.integer("downscale_factor", 1), false, true));
    }

    private static void transpose(OpContext context) {
        Operand x = context.raw("x");
        int[] perm = context.ints("perm");
        int[] shape = x.shape();
        int last = -1;
        boolean ordered = true;
        for (int i = 0; i < perm.length; i++) {
            perm[i] = Math.floorMod(perm[i], perm.length);
            if (shape[perm[i]] != 1) {
                ordered &= perm[i] > last;
                last = perm[i];
            }
        }
        if (ordered) {
            context.alias(x, 0);
            return;
        }
        Operand in = context.in("x");
        Operand out = context.out();
        int[] strides = Strides.of(shape);
        int[] read = new int[perm.length];
        for (int i = 0; i < perm.length; i++) {
            read[i] = strides[perm[i]];
        }
        context.step(Strides.copy(in, 0, read, out, 0, Strides.of(out.shape()), out.shape()));
    }

    private static void concat(OpContext context) {
        List<Operand> parts = context.all("values");
        Operand out = context.out();
        int axis = context.axis("axis", 0, out.type().rank());
        int[] strides = Strides.of(out.shape());
        if (context.flag("interleave", false)) {
            int[] every = strides.clone();
            every[axis] *= parts.size();
            for (int i = 0; i < parts.size(); i++) {
                Operand part = parts.get(i);
                context.step(
                        Strides.copy(part, 0, Strides.of(part.shape()), out, i * strides[axis], every, part.shape()));
            }
            return;
        }
        int at = 0;
        for (Operand part : parts) {
            context.step(
                    Strides.copy(part, 0, Strides.of(part.shape()), out, at * strides[axis], strides, part.shape()));
            at += part.type().axis(axis);
        }
    }

    private static void stack(OpContext context) {
        List<Operand> parts = context.all("values");
        Operand out = context.out();
        int axis = context.axis("axis", 0, out.type().rank());
        int[] strides = Strides.of(out.shape());
        int[] shape = out.shape();
        shape[axis] = 1;
        for (int i = 0; i < parts.size(); i++) {
            context.step(Strides.copy(parts.get(i), 0, Strides.of(shape), out, i * strides[axis], strides, shape));
        }
    }

    private static void split(OpContext context) {
        Operand x = context.raw("x");
        int axis = context.axis("axis", 0, x.type().rank());
        int[] strides = Strides.of(x.shape());
        int at = 0;
        for (Value part : context.results()) {
            cut(context, part, at * strides[axis], strides);
            at += part.type().axis(axis);
        }
    }

    /** Makes a result a part of {@code x}: the same memory where the part is densely packed, a copy elsewhere. */
    private static void cut(OpContext context, Value result, int from, int[] read) {
        int[] shape = result.type().shape().stream().mapToInt(Integer::intValue).toArray();
        if (dense(read, shape)) {
            context.alias(context.raw("x"), from, result);
            return;
        }
        Operand in = context.in("x");
        Operand out = context.out(result);
        context.step(Strides.copy(in, from, read, out, 0, Strides.of(shape), shape));
    }

    private static boolean dense(int[] strides, int[] shape) {
        int expected = 1;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            if (shape[axis] != 1) {
                if (strides[axis] != expected) {
                    return false;
                }
                expected *= shape[axis];
            }
        }
        return true;
    }

    private static void sliceByIndex(OpContext context) {
        Operand x = context.raw("x");
        Slice slice = Slice.of(context, x.shape());
        int[] strides = Strides.of(x.shape());
        int from = 0;
        int kept = 0;
        int[] read = new int[x.type().rank()];
        for (int axis = 0; axis < strides.length; axis++) {
            from += slice.begin()[axis] * strides[axis];
            if (!slice.squeezed()[axis]) {
                read[kept++] = strides[axis] * slice.stride()[axis];
            }
        }
        cut(context, context.results().getFirst(), from, java.util.Arrays.copyOf(read, kept));
    }

    private static void sliceBySize(OpContext context) {
        Operand x = context.raw("x");
        int[] strides = Strides.of(x.shape());
        Operand place = context.in("begin");
        if (!place.isConstant()) {
            context.step(new Window(context.in("x"), place, context.out()));
            return;
        }
        int[] begin = place.ints();
        int from = 0;
        for (int axis = 0; axis < strides.length; axis++) {
            from += (begin[axis] < 0 ? begin[axis] + x.type().axis(axis) : begin[axis]) * strides[axis];
        }
        cut(context, context.results().getFirst(), from, strides);
    }

    /** A copy with a part replaced; the part's place may be computed at run time. */
    private static void sliceUpdate(OpContext context) {
        Operand x = context.in("x");
        Operand update = context.in("update");
        Operand begin = context.in("begin");
        Operand out = context.out();
        int[] shape = x.shape();
        int[] strides = Strides.of(shape);
        int[] dense = Strides.of(update.shape());
        context.step(Strides.copy(x, 0, strides, out, 0, strides, shape));
        if (begin.isConstant()) {
            Slice slice = Slice.of(context, shape);
            int to = 0;
            int[] write = new int[shape.length];
            for (int axis = 0; axis < shape.length; axis++) {
                to += slice.begin()[axis] * strides[axis];
                write[axis] = strides[axis] * slice.stride()[axis];
            }
            context.step(Strides.copy(update, 0, dense, out, to, write, update.shape()));
            return;
        }
        int[] flat = context.ints("stride", 1);
        for (int stride : flat) {
            if (stride != 1) {
                throw new TorchAneException(context.describe() + ": a computed 'begin' goes with strides of 1 only");
            }
        }
        context.step(new Write(update, begin, out));
    }

    /** Writes a block into a tensor at a place that is known at run time only; the block must lie inside. */
    record Write(Operand update, Operand begin, Operand out) implements Step {
        @Override
        public void run(Call call) {
            int[] shape = out.shape();
            int[] strides = Strides.of(shape);
            float[] at = begin.array(call);
            int to = 0;
            for (int axis = 0; axis < shape.length; axis++) {
                int first = Write.first(
                        (int) at[begin.offset() + axis],
                        shape[axis],
                        update.type().axis(axis),
                        axis);
                to += first * strides[axis];
            }
            Strides.copy(update, 0, Strides.of(update.shape()), out, to, strides, update.shape())
                    .run(call);
        }

        /** Resolves and checks the begin of an update along one axis. */
        static int first(int begin, int size, int updated, int axis) {
            int first = begin < 0 ? begin + size : begin;
            if (first < 0 || first + updated > size) {
                throw new IllegalArgumentException("a window [" + first + ", " + (first + updated)
                        + ") was asked for along axis " + axis + ", which has " + size + " elements");
            }
            return first;
        }
    }

    /** Reads a block from a place that is known at run time only; the block must lie inside. */
    private record Window(Operand x, Operand begin, Operand out) implements Step {
        @Override
        public void run(Call call) {
            int[] shape = out.shape();
            int[] strides = Strides.of(x.shape());
            float[] at = begin.array(call);
            int from = 0;
            for (int axis = 0; axis < shape.length; axis++) {
                int first =
                        Write.first((int) at[begin.offset() + axis], x.type().axis(axis), shape[axis], axis);
                from += first * strides[axis];
            }
            Strides.copy(x, from, strides, out, 0, Strides.of(shape), shape).run(call);
        }
    }

    private static void tile(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int[] shape = x.shape();
        int[] reps = context.ints("reps");
        int rank = shape.length;
        int[] read = new int[2 * rank];
        int[] sizes = new int[2 * rank];
        int[] strides = Strides.of(shape);
        for (int axis = 0; axis < rank; axis++) {
            sizes[2 * axis] = reps[axis];
            sizes[2 * axis + 1] = shape[axis];
            read[2 * axis + 1] = strides[axis];
        }
        context.step(Strides.copy(x, 0, read, out, 0, Strides.of(sizes), sizes));
    }

    private static void reverse(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int[] shape = x.shape();
        int[] read = Strides.of(shape);
        int from = 0;
        int[] all = java.util.stream.IntStream.range(0, shape.length).toArray();
        for (int axis : context.ints("axes", all)) {
            int a = Math.floorMod(axis, shape.length);
            from += (shape[a] - 1) * read[a];
            read[a] = -read[a];
        }
        context.step(Strides.copy(x, from, read, out, 0, Strides.of(shape), shape));
    }

    private static void fill(OpContext context) {
        Operand out = context.out();
        float value = context.number("value", 0f);
        context.step(call -> java.util.Arrays.fill(out.array(call), out.offset(), out.offset() + out.size(), value));
    }

    private static void pad(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int[] pad = context.ints("pad");
        String mode = context.text("mode", "constant");
        float value = context.number("constant_val", 0f);
        int[] from = x.shape();
        int[] to = out.shape();
        int[] before = new int[from.length];
        for (int i = 0; i < pad.length / 2; i++) {
            before[from.length - pad.length / 2 + i] = pad[2 * i];
        }
        context.step(call -> {
            float[] in = x.array(call);
            float[] result = out.array(call);
            int[] strides = Strides.of(from);
            for (int i = 0; i < out.size(); i++) {
                int rest = i;
                int at = x.offset();
                boolean inside = true;
                for (int axis = to.length - 1; axis >= 0; axis--) {
                    int position = source(rest % to[axis] - before[axis], from[axis], mode);
                    rest /= to[axis];
                    inside &= position >= 0;
                    at += position * strides[axis];
                }
                result[out.offset() + i] = inside ? in[at] : value;
            }
        });
    }

    private static int source(int position, int size, String mode) {
        if (position >= 0 && position < size) {
            return position;
        }
        return switch (mode) {
            case "reflect" -> position < 0 ? -position : 2 * (size - 1) - position;
            case "replicate" -> position < 0 ? 0 : size - 1;
            default -> -1;
        };
    }

    /** Blocks of pixels to channels and back; {@code channelMajor} is the order of torch's pixel_shuffle. */
    private static void depth(OpContext context, int block, boolean toSpace, boolean channelMajor) {
        Operand x = context.in("x");
        Operand out = context.out();
        Operand space = toSpace ? out : x;
        int[] shape = space.shape();
        int channels = shape[1];
        int height = shape[2] / block;
        int width = shape[3] / block;
        // Axes of both sides: batch, channel, block row, block column, row, column.
        int[] sizes = {shape[0], channels, block, block, height, width};
        int[] s = Strides.of(shape);
        int[] inSpace = {s[0], s[1], s[2], 1, s[2] * block, block};
        int pixels = height * width;
        int[] inDepth = channelMajor
                ? new int[] {s[0], block * block * pixels, block * pixels, pixels, width, 1}
                : new int[] {s[0], pixels, block * channels * pixels, channels * pixels, width, 1};
        context.step(
                toSpace
                        ? Strides.copy(x, 0, inDepth, out, 0, inSpace, sizes)
                        : Strides.copy(x, 0, inSpace, out, 0, inDepth, sizes));
    }

    /** The place of a slice along each axis, with MIL's masks, negative indices and strides resolved. */
    record Slice(int[] begin, int[] stride, boolean[] squeezed) {

        static Slice of(OpContext context, int[] shape) {
            int rank = shape.length;
            int[] begin = context.ints("begin").clone();
            int[] stride = context.has("stride") ? context.ints("stride") : ones(rank);
            boolean[] beginMask = flags(context, "begin_mask", rank);
            boolean[] squeezed = flags(context, "squeeze_mask", rank);
            for (int axis = 0; axis < rank; axis++) {
                if (beginMask[axis]) {
                    begin[axis] = stride[axis] < 0 ? shape[axis] - 1 : 0;
                } else {
                    begin[axis] = begin[axis] < 0 ? begin[axis] + shape[axis] : begin[axis];
                    begin[axis] = Math.clamp(begin[axis], 0, Math.max(0, shape[axis] - (stride[axis] < 0 ? 1 : 0)));
                }
            }
            return new Slice(begin, stride, squeezed);
        }

        private static int[] ones(int rank) {
            int[] ones = new int[rank];
            java.util.Arrays.fill(ones, 1);
            return ones;
        }

        private static boolean[] flags(OpContext context, String parameter, int rank) {
            boolean[] flags = new boolean[rank];
            if (context.has(parameter)) {
                int[] values = context.ints(parameter);
                for (int i = 0; i < rank; i++) {
                    flags[i] = values[i] != 0;
                }
            }
            return flags;
        }
    }

    /** Shape of a type as an array. */
    static int[] shape(TensorType type) {
        return type.shape().stream().mapToInt(Integer::intValue).toArray();
    }
}
