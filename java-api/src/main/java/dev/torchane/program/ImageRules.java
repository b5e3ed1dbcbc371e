package dev.torchane.program;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Convolution, pooling and resizing over spatial axes, in {@code [n, c, …]} layout. */
final class ImageRules {

    private ImageRules() {}

    static List<Signature> signatures() {
        List<Signature> all = new ArrayList<>();
        all.add(Signature.of(
                "conv",
                "x, weight, bias?, const strides?, const pad_type = valid, const pad?, const dilations?,"
                        + " const groups = 1",
                ImageRules::conv));
        all.add(Signature.of(
                "conv_transpose",
                "x, weight, bias?, const pad?, const output_shape?, const pad_type = valid, const strides?,"
                        + " const dilations?, const groups = 1",
                ImageRules::convTranspose));
        String pool = "x, const kernel_sizes, const strides?, const pad_type, const pad?";
        all.add(Signature.of("max_pool", pool + ", const ceil_mode = false", ImageRules::pool));
        all.add(Signature.of("l2_pool", pool + ", const ceil_mode = false", ImageRules::pool));
        all.add(Signature.of(
                "avg_pool",
                pool + ", const exclude_padding_from_average = false, const ceil_mode = false",
                ImageRules::pool));
        all.add(Signature.of(
                "upsample_nearest_neighbor",
                "x, const scale_factor_height = 1, const scale_factor_width = 1",
                ImageRules::upsample));
        all.add(Signature.of(
                "upsample_bilinear",
                "x, const scale_factor_height = 1, const scale_factor_width = 1, const align_corners = true,"
                        + " const half_pixel_centers?",
                ImageRules::upsample));
        all.add(Signature.of(
                "resize_nearest_neighbor", "x, const target_size_height, const target_size_width", ImageRules::target));
        all.add(Signature.of(
                "resize_bilinear",
                "x, const target_size_height = 1, const target_size_width = 1, const sampling_mode = DEFAULT",
                ImageRules::target));
        all.add(Signature.of(
                "resize",
                "x, const shape, const resized_dims, const interpolation_mode = LINEAR, const sampling_mode = DEFAULT",
                ImageRules::resize));
        return all;
    }

    /** Sizes of a sliding window over the spatial axes, with what stands for missing operands. */
    private record Sliding(List<Integer> kernel, List<Integer> strides, List<Integer> dilations, List<Integer> pad) {

        static Sliding of(Call call, TensorType x, List<Integer> kernel, String dilationsOperand) {
            int spatial = x.rank() - 2;
            List<Integer> ones = Collections.nCopies(spatial, 1);
            List<Integer> strides = call.has("strides") ? call.ints("strides") : ones;
            List<Integer> dilations =
                    !dilationsOperand.isEmpty() && call.has(dilationsOperand) ? call.ints(dilationsOperand) : ones;
            List<Integer> pad = call.has("pad") ? call.ints("pad") : Collections.nCopies(2 * spatial, 0);
            boolean fits = kernel.size() == spatial
                    && strides.size() == spatial
                    && dilations.size() == spatial
                    && pad.size() == 2 * spatial
                    && positive(kernel)
                    && positive(strides)
                    && positive(dilations)
                    && pad.stream().allMatch(size -> size >= 0);
            if (!fits) {
                throw call.refuse(
                        spatial + " positive kernel sizes, strides and dilations and " + 2 * spatial + " pad sizes for "
                                + x + ", not " + kernel + ", " + strides + ", " + dilations + " and " + pad);
            }
            return new Sliding(kernel, strides, dilations, pad);
        }

        private static boolean positive(List<Integer> sizes) {
            return sizes.stream().allMatch(size -> size > 0);
        }

        long reach(int axis) {
            return (kernel.get(axis) - 1L) * dilations.get(axis) + 1;
        }

        int output(Call call, TensorType x, int axis, boolean ceil) {
            long size = x.axis(2 + axis);
            long stride = strides.get(axis);
            String padType = call.text("pad_type");
            long padding = switch (padType) {
                case "valid" -> 0;
                case "custom" -> pad.get(2 * axis) + pad.get(2 * axis + 1);
                case "same", "same_lower" ->
                    Math.max(0, stride * Math.ceilDiv(size, stride) - size + reach(axis) - stride);
                default -> throw call.refuse("pad_type valid, custom, same or same_lower, not '" + padType + "'");
            };
            long span = size + padding - reach(axis);
            long output = Math.floorDiv(ceil ? span + stride - 1 : span, stride) + 1;
            if (ceil && padding > 0 && 2 * (output - 1) * stride >= 2 * size + padding) {
                output--;
            }
            if (output < 1) {
                throw call.refuse("a window of " + reach(axis) + " to fit spatial axis " + axis + " of " + x);
            }
            return Shapes.size(call, output);
        }
    }

    private static List<TensorType> conv(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        call.sameElements("x", "weight");
        TensorType weight = call.rank("weight", x.rank(), x.rank());
        int groups = call.integer("groups");
        if (groups < 1
                || x.axis(1) % groups != 0
                || weight.axis(0) % groups != 0
                || weight.axis(1) != x.axis(1) / groups) {
            throw call.refuse("'weight' of [N, " + x.axis(1) + " / groups, kernel…] with groups dividing both, not "
                    + weight + " with " + groups + " groups");
        }
        call.exactly("bias", TensorType.of(x.dtype(), weight.axis(0)));
        Sliding sliding = Sliding.of(call, x, weight.shape().subList(2, x.rank()), "dilations");
        return List.of(spatial(call, x, weight.axis(0), sliding, false));
    }

    private static TensorType spatial(Call call, TensorType x, int channels, Sliding sliding, boolean ceil) {
        List<Integer> shape = new ArrayList<>(List.of(x.axis(0), channels));
        for (int axis = 0; axis < x.rank() - 2; axis++) {
            shape.add(sliding.output(call, x, axis, ceil));
        }
        return x.withShape(shape);
    }

    private static List<TensorType> convTranspose(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        call.sameElements("x", "weight");
        TensorType weight = call.rank("weight", x.rank(), x.rank());
        int groups = call.integer("groups");
        if (groups < 1 || x.axis(1) % groups != 0 || weight.axis(0) != x.axis(1)) {
            throw call.refuse("'weight' of [" + x.axis(1) + ", N / groups, kernel…] with groups dividing " + x.axis(1)
                    + ", not " + weight + " with " + groups + " groups");
        }
        int channels = Shapes.size(call, (long) weight.axis(1) * groups);
        call.exactly("bias", TensorType.of(x.dtype(), channels));
        if (call.has("output_shape")) {
            List<Integer> shape = call.ints("output_shape");
            if (shape.size() != x.rank() || shape.get(0) != x.axis(0) || shape.get(1) != channels) {
                throw call.refuse("'output_shape' of [" + x.axis(0) + ", " + channels + ", …], not " + shape);
            }
            return List.of(x.withShape(shape));
        }
        Sliding sliding = Sliding.of(call, x, weight.shape().subList(2, x.rank()), "dilations");
        List<Integer> shape = new ArrayList<>(List.of(x.axis(0), channels));
        for (int axis = 0; axis < x.rank() - 2; axis++) {
            long stride = sliding.strides().get(axis);
            long full = (x.axis(2 + axis) - 1L) * stride + sliding.reach(axis);
            long size = switch (call.text("pad_type")) {
                case "valid" -> full;
                case "custom" ->
                    full - sliding.pad().get(2 * axis) - sliding.pad().get(2 * axis + 1);
                case "same", "same_lower" -> x.axis(2 + axis) * stride;
                default -> throw call.refuse("pad_type valid, custom, same or same_lower");
            };
            shape.add(Shapes.size(call, size));
        }
        return List.of(x.withShape(shape));
    }

    private static List<TensorType> pool(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        Sliding sliding = Sliding.of(call, x, call.ints("kernel_sizes"), "");
        return List.of(spatial(call, x, x.axis(1), sliding, call.flag("ceil_mode")));
    }

    private static List<TensorType> upsample(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        return List.of(resized(
                x,
                scaled(call, x.axis(-2), call.number("scale_factor_height")),
                scaled(call, x.axis(-1), call.number("scale_factor_width"))));
    }

    private static int scaled(Call call, int size, double factor) {
        double scaled = Math.floor(size * factor);
        if (!(scaled >= 1 && scaled <= Integer.MAX_VALUE)) {
            throw call.refuse("a positive scale factor, not " + factor);
        }
        return (int) scaled;
    }

    private static List<TensorType> target(Call call) {
        TensorType x = call.floats("x");
        call.rank("x", 3, 5);
        int height = call.integer("target_size_height");
        int width = call.integer("target_size_width");
        if (height < 1 || width < 1) {
            throw call.refuse("a positive target size, not " + height + " by " + width);
        }
        return List.of(resized(x, height, width));
    }

    private static TensorType resized(TensorType x, int height, int width) {
        return x.withShape(Shapes.with(Shapes.with(x.shape(), x.rank() - 2, height), x.rank() - 1, width));
    }

    private static List<TensorType> resize(Call call) {
        TensorType x = call.rank("x", 1, 5);
        int dims = call.integer("resized_dims");
        List<Integer> sizes = call.ints("shape");
        if (dims < 0 || dims > x.rank() || sizes.size() < dims) {
            throw call.refuse("'resized_dims' up to " + Math.min(x.rank(), sizes.size()) + ", not " + dims);
        }
        List<Integer> shape = new ArrayList<>(x.shape());
        for (int i = 1; i <= dims; i++) {
            int size = sizes.get(sizes.size() - i);
            if (size < 0) {
                throw call.refuse("sizes of at least 0 in 'shape', not " + sizes);
            }
            if (size > 0) {
                shape.set(x.rank() - i, size);
            }
        }
        return List.of(x.withShape(shape));
    }
}
