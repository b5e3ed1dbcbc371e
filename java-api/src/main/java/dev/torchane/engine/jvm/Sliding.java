package dev.torchane.engine.jvm;

import java.util.Arrays;

/** A window that slides over the spatial axes of {@code [n, c, …]}, filled up to three axes with axes of size 1. */
record Sliding(int[] in, int[] out, int[] kernel, int[] strides, int[] dilations, int[] before) {

    private static final int AXES = 3;

    /** From the operands {@code strides}, {@code dilations}, {@code pad}, {@code pad_type} of a convolution or pooling. */
    static Sliding of(OpContext context, int[] x, int[] result, int[] kernel) {
        int spatial = x.length - 2;
        int[] ones = filled(spatial, 1);
        int[] strides = context.ints("strides", ones);
        int[] dilations = context.ints("dilations", ones);
        int[] pad = context.ints("pad", new int[2 * spatial]);
        String type = context.text("pad_type", "valid");
        int[] before = new int[spatial];
        for (int axis = 0; axis < spatial; axis++) {
            int reach = (kernel[axis] - 1) * dilations[axis] + 1;
            int size = x[axis + 2];
            int padding = Math.max(0, (Math.ceilDiv(size, strides[axis]) - 1) * strides[axis] + reach - size);
            before[axis] = switch (type) {
                case "custom" -> pad[2 * axis];
                case "same" -> padding / 2;
                case "same_lower" -> padding - padding / 2;
                default -> 0;
            };
        }
        return new Sliding(
                grown(Arrays.copyOfRange(x, 2, x.length), 1),
                grown(Arrays.copyOfRange(result, 2, result.length), 1),
                grown(kernel, 1),
                grown(strides, 1),
                grown(dilations, 1),
                grown(before, 0));
    }

    private static int[] filled(int size, int value) {
        int[] values = new int[size];
        Arrays.fill(values, value);
        return values;
    }

    private static int[] grown(int[] values, int filler) {
        int[] grown = filled(AXES, filler);
        System.arraycopy(values, 0, grown, AXES - values.length, values.length);
        return grown;
    }

    int inputs() {
        return Strides.elements(in);
    }

    int outputs() {
        return Strides.elements(out);
    }

    int taps() {
        return Strides.elements(kernel);
    }

    /** Index, within a channel of the input, that a tap of the kernel sees at an output position; -1 in the padding. */
    int source(int output, int tap) {
        int at = 0;
        int outStride = outputs();
        int tapStride = taps();
        for (int axis = 0; axis < AXES; axis++) {
            outStride /= out[axis];
            tapStride /= kernel[axis];
            int position = output / outStride % out[axis] * strides[axis]
                    + tap / tapStride % kernel[axis] * dilations[axis]
                    - before[axis];
            if (position < 0 || position >= in[axis]) {
                return -1;
            }
            at = at * in[axis] + position;
        }
        return at;
    }

    /** Index, within a channel of the input of a transposed convolution, that a tap brings to an output position; -1 if none. */
    int spread(int output, int tap) {
        int at = 0;
        int outStride = outputs();
        int tapStride = taps();
        for (int axis = 0; axis < AXES; axis++) {
            outStride /= out[axis];
            tapStride /= kernel[axis];
            int position =
                    output / outStride % out[axis] + before[axis] - tap / tapStride % kernel[axis] * dilations[axis];
            if (position < 0 || position % strides[axis] != 0 || position / strides[axis] >= in[axis]) {
                return -1;
            }
            at = at * in[axis] + position / strides[axis];
        }
        return at;
    }

    /** Index, within a channel of the output of a transposed convolution, that a tap writes from an input; -1 outside. */
    int target(int input, int tap) {
        int at = 0;
        int inStride = inputs();
        int tapStride = taps();
        for (int axis = 0; axis < AXES; axis++) {
            inStride /= in[axis];
            tapStride /= kernel[axis];
            int position = input / inStride % in[axis] * strides[axis]
                    + tap / tapStride % kernel[axis] * dilations[axis]
                    - before[axis];
            if (position < 0 || position >= out[axis]) {
                return -1;
            }
            at = at * out[axis] + position;
        }
        return at;
    }
}
