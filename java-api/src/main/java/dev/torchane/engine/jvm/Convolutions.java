package dev.torchane.engine.jvm;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Convolutions in {@code [n, c, …]} layout, of one to three spatial axes. */
final class Convolutions {

    private Convolutions() {}

    static void register(Map<String, Consumer<OpContext>> table) {
        table.put("conv", Convolutions::conv);
        table.put("conv_transpose", Convolutions::transposed);
    }

    private static void conv(OpContext context) {
        if (pointwise(context) && (packed(context) || fewPixels(context))) {
            linear(context);
            return;
        }
        Operand x = context.in("x");
        Operand weight = context.in("weight");
        Operand bias = context.maybe("bias").orElse(null);
        Operand out = context.out();
        int[] w = weight.shape();
        Sliding sliding = Sliding.of(context, x.shape(), out.shape(), Arrays.copyOfRange(w, 2, w.length));
        int groups = context.integer("groups", 1);
        if (w[0] / groups >= ConvolutionProducts.LEAST_CHANNELS) {
            context.step(new ConvolutionProducts(x, weight, bias, out, sliding, groups, false));
            return;
        }
        context.step(new Conv(x, weight, bias, out, sliding, groups, sources(sliding)));
    }

    /** Whether each output pixel is a linear layer of one input pixel, with weights that the program stores. */
    private static boolean pointwise(OpContext context) {
        TensorType weight = context.type("weight");
        boolean ones = weight.elements() == (long) weight.axis(0) * weight.axis(1);
        for (int stride : context.ints("strides", 1)) {
            ones &= stride == 1;
        }
        return ones
                && context.type("x").elements() / context.type("x").axis(1)
                        == context.results().getFirst().type().elements() / weight.axis(0)
                && context.integer("groups", 1) == 1
                && context.weight("weight").isPresent();
    }

    /** Whether the weights are stored in less than fp32, which the kernels of linear layers expand as they go. */
    private static boolean packed(OpContext context) {
        return !(context.weight("weight").orElseThrow() instanceof WeightRef.Plain plain)
                || plain.type().dtype() != DType.FP32;
    }

    private static boolean fewPixels(OpContext context) {
        TensorType x = context.type("x");
        return x.elements() / x.axis(0) / x.axis(1) < Lanes.COUNT;
    }

    /** A 1×1 convolution: pixels become rows, a linear layer, rows become pixels. */
    private static void linear(OpContext context) {
        Operand x = context.in("x");
        Panels weight = context.store().panels(context.weight("weight").orElseThrow());
        Operand bias = context.maybe("bias").orElse(null);
        Operand out = context.out();
        int images = x.type().axis(0);
        int pixels = x.size() / (images * weight.inputs());
        Operand rows = context.temporary(x.type().withShape(List.of(images, pixels, weight.inputs())));
        Operand results = context.temporary(out.type().withShape(List.of(images, pixels, weight.outputs())));
        context.step(transposed(x, rows, images, weight.inputs(), pixels));
        context.step(LinearStep.of(rows, weight, bias, images * pixels, results));
        context.step(transposed(results, out, images, pixels, weight.outputs()));
    }

    /** Swaps the last two of three axes {@code [images, a, b]}. */
    private static Step transposed(Operand from, Operand to, int images, int a, int b) {
        return Strides.copy(from, 0, new int[] {a * b, 1, b}, to, 0, new int[] {a * b, a, 1}, new int[] {images, b, a});
    }

    private static int[] sources(Sliding sliding) {
        int[] sources = new int[sliding.taps() * sliding.outputs()];
        for (int tap = 0; tap < sliding.taps(); tap++) {
            for (int o = 0; o < sliding.outputs(); o++) {
                sources[tap * sliding.outputs() + o] = sliding.source(o, tap);
            }
        }
        return sources;
    }

    /** One output channel of one image for each chunk; products are added in the order of input channels, then taps. */
    private record Conv(
            Operand x, Operand weight, Operand bias, Operand out, Sliding sliding, int groups, int[] sources)
            implements Step, WorkerPool.Task {

        @Override
        public void run(Call call) {
            int planes = out.type().axis(0) * out.type().axis(1);
            long work = (long) out.size() * weight.type().axis(1) * sliding.taps();
            call.parallel(this, work < 1 << 15 ? 1 : Math.min(planes, 256));
        }

        @Override
        public void run(Call call, int chunk, int worker) {
            int planes = out.type().axis(0) * out.type().axis(1);
            long work = (long) out.size() * weight.type().axis(1) * sliding.taps();
            int chunks = work < 1 << 15 ? 1 : Math.min(planes, 256);
            for (int plane = (int) ((long) planes * chunk / chunks);
                    plane < (int) ((long) planes * (chunk + 1) / chunks);
                    plane++) {
                plane(x.array(call), weight.array(call), out.array(call), plane);
                if (bias != null) {
                    float shift =
                            bias.array(call)[bias.offset() + plane % out.type().axis(1)];
                    int from = out.offset() + plane * sliding.outputs();
                    for (int i = 0; i < sliding.outputs(); i++) {
                        out.array(call)[from + i] += shift;
                    }
                }
            }
        }

        private void plane(float[] in, float[] w, float[] to, int plane) {
            int outChannels = out.type().axis(1);
            int inChannels = weight.type().axis(1);
            int image = plane / outChannels;
            int channel = plane % outChannels;
            int group = channel / (outChannels / groups);
            int pixels = sliding.outputs();
            int at = out.offset() + plane * pixels;
            Arrays.fill(to, at, at + pixels, 0f);
            for (int c = 0; c < inChannels; c++) {
                int from = x.offset() + (image * x.type().axis(1) + group * inChannels + c) * sliding.inputs();
                for (int tap = 0; tap < sliding.taps(); tap++) {
                    float factor = w[weight.offset() + (channel * inChannels + c) * sliding.taps() + tap];
                    add(factor, in, from, sources, tap * pixels, to, at, pixels);
                }
            }
        }

        private static void add(
                float factor, float[] in, int from, int[] sources, int first, float[] to, int at, int pixels) {
            for (int i = 0; i < pixels; i++) {
                int source = sources[first + i];
                if (source >= 0) {
                    to[at + i] = Math.fma(factor, in[from + source], to[at + i]);
                }
            }
        }
    }

    /** Weights {@code [input channels][output channels of a group][taps]} as a convolution has them. */
    private static Operand turned(Operand weight, int inChannels, int perGroup, int groups, int taps) {
        float[] from = weight.buffer().constant;
        float[] to = new float[weight.size()];
        int each = inChannels / groups;
        for (int c = 0; c < inChannels; c++) {
            for (int n = 0; n < perGroup; n++) {
                int row = c / each * perGroup + n;
                int source = weight.start() + (c * perGroup + n) * taps;
                System.arraycopy(from, source, to, (row * each + c % each) * taps, taps);
            }
        }
        return Operand.constant(TensorType.of(DType.FP32, groups * perGroup, each, taps), to);
    }

    private static void transposed(OpContext context) {
        Operand x = context.in("x");
        Operand weight = context.in("weight");
        Operand bias = context.maybe("bias").orElse(null);
        Operand out = context.out();
        int[] w = weight.shape();
        Sliding sliding = Sliding.of(context, x.shape(), out.shape(), Arrays.copyOfRange(w, 2, w.length));
        int groups = context.integer("groups", 1);
        int inChannels = x.type().axis(1);
        int outChannels = out.type().axis(1);
        int perGroup = outChannels / groups;
        if (weight.isConstant() && perGroup >= ConvolutionProducts.LEAST_CHANNELS) {
            Operand turned = turned(weight, inChannels, perGroup, groups, sliding.taps());
            context.step(new ConvolutionProducts(x, turned, bias, out, sliding, groups, true));
            return;
        }
        context.step(call -> {
            float[] in = x.array(call);
            float[] to = out.array(call);
            for (int plane = 0; plane < out.type().axis(0) * outChannels; plane++) {
                float shift = bias == null ? 0 : bias.array(call)[bias.offset() + plane % outChannels];
                int at = out.offset() + plane * sliding.outputs();
                Arrays.fill(to, at, at + sliding.outputs(), shift);
                int group = plane % outChannels / perGroup;
                for (int c = group * (inChannels / groups); c < (group + 1) * (inChannels / groups); c++) {
                    int from = x.offset() + (plane / outChannels * inChannels + c) * sliding.inputs();
                    int taps = weight.offset() + (c * perGroup + plane % perGroup) * sliding.taps();
                    for (int i = 0; i < sliding.inputs(); i++) {
                        for (int tap = 0; tap < sliding.taps(); tap++) {
                            int target = sliding.target(i, tap);
                            if (target >= 0) {
                                to[at + target] =
                                        Math.fma(in[from + i], weight.array(call)[taps + tap], to[at + target]);
                            }
                        }
                    }
                }
            }
        });
    }
}
