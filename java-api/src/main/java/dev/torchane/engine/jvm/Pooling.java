package dev.torchane.engine.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** Pooling and resizing of images. */
final class Pooling {

    private Pooling() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("max_pool", Pooling::pool);
        table.put("avg_pool", Pooling::pool);
        table.put("l2_pool", Pooling::pool);
        table.put("upsample_nearest_neighbor", Pooling::nearest);
        table.put("upsample_bilinear", Pooling::bilinear);
    }

    private static void pool(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        Sliding sliding = Sliding.of(context, x.shape(), out.shape(), context.ints("kernel_sizes"));
        String kind = context.kind();
        boolean onlyInside = context.flag("exclude_padding_from_average", false);
        context.step(call -> {
            float[] in = x.array(call);
            for (int i = 0; i < out.size(); i++) {
                int from = x.offset() + i / sliding.outputs() * sliding.inputs();
                double sum = 0;
                float max = Float.NEGATIVE_INFINITY;
                int inside = 0;
                for (int tap = 0; tap < sliding.taps(); tap++) {
                    int source = sliding.source(i % sliding.outputs(), tap);
                    if (source >= 0) {
                        float value = in[from + source];
                        sum += kind.equals("l2_pool") ? (double) value * value : value;
                        max = Math.max(max, value);
                        inside++;
                    }
                }
                out.array(call)[out.offset() + i] = switch (kind) {
                    case "max_pool" -> max;
                    case "l2_pool" -> (float) Math.sqrt(sum);
                    default -> (float) (sum / (onlyInside ? inside : sliding.taps()));
                };
            }
        });
    }

    private static void nearest(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        int height = x.type().axis(-2);
        int width = x.type().axis(-1);
        int outHeight = out.type().axis(-2);
        int outWidth = out.type().axis(-1);
        int[] columns = new int[outWidth];
        for (int i = 0; i < outWidth; i++) {
            columns[i] = (int) ((long) i * width / outWidth);
        }
        context.step(call -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            for (int line = 0; line < out.size() / outWidth; line++) {
                int row = (int) ((long) (line % outHeight) * height / outHeight);
                int from = x.offset() + (line / outHeight * height + row) * width;
                for (int i = 0; i < outWidth; i++) {
                    to[out.offset() + line * outWidth + i] = in[from + columns[i]];
                }
            }
        });
    }

    private static void bilinear(OpContext context) {
        Operand x = context.in("x");
        Operand out = context.out();
        boolean corners = context.flag("align_corners", true);
        boolean centers = context.flag("half_pixel_centers", !corners);
        int height = x.type().axis(-2);
        int width = x.type().axis(-1);
        int outHeight = out.type().axis(-2);
        int outWidth = out.type().axis(-1);
        context.step(call -> {
            float[] in = x.array(call);
            for (int i = 0; i < out.size(); i++) {
                int from = x.offset() + i / outWidth / outHeight * height * width;
                double row = place(i / outWidth % outHeight, height, outHeight, corners, centers);
                double column = place(i % outWidth, width, outWidth, corners, centers);
                int top = (int) row;
                int left = (int) column;
                int bottom = Math.min(top + 1, height - 1);
                int right = Math.min(left + 1, width - 1);
                double upper = in[from + top * width + left] * (1 - (column - left))
                        + in[from + top * width + right] * (column - left);
                double lower = in[from + bottom * width + left] * (1 - (column - left))
                        + in[from + bottom * width + right] * (column - left);
                out.array(call)[out.offset() + i] = (float) (upper * (1 - (row - top)) + lower * (row - top));
            }
        });
    }

    private static double place(int position, int size, int outSize, boolean corners, boolean centers) {
        if (corners) {
            return outSize == 1 ? 0 : (double) position * (size - 1) / (outSize - 1);
        }
        double scale = (double) size / outSize;
        return Math.clamp(centers ? (position + 0.5) * scale - 0.5 : position * scale, 0, size - 1);
    }
}
