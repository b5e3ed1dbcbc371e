package dev.torchane.engine.jvm;

import java.util.Arrays;

/**
 * A convolution as a product of matrices. Output channels are its rows, with their weights as they lie in memory; what the taps see
 * at some output pixels is packed as the panels of a linear layer, so that its kernel computes all channels of these pixels and
 * writes them where they belong. Products are added in the order of input channels, then taps.
 *
 * @param weight {@code [output channels][input channels of a group][taps]}
 * @param bias of each output channel, or null
 * @param transposed whether inputs are spread over outputs, so that a tap sees an input only where the stride meets one
 */
record ConvolutionProducts(
        Operand x, Operand weight, Operand bias, Operand out, Sliding sliding, int groups, boolean transposed)
        implements Step, WorkerPool.Task {

    /** Panels that are packed together: as many as the kernel takes in one pass over the weights. */
    private static final int PANELS = LinearScratch.GROUP;

    private static final int BLOCK = PANELS * Lanes.COUNT;

    /** Output channels of a group below which packing costs more than it brings. */
    static final int LEAST_CHANNELS = 4;

    private int blocks() {
        return Math.ceilDiv(sliding.outputs(), BLOCK);
    }

    private int channels() {
        return out.type().axis(1) / groups;
    }

    @Override
    public void run(Call call) {
        call.parallel(this, Math.min(1 << 15, out.type().axis(0) * groups * blocks()));
    }

    @Override
    public void run(Call call, int chunk, int worker) {
        int blocks = blocks();
        int all = out.type().axis(0) * groups * blocks;
        int chunks = Math.min(1 << 15, all);
        for (int i = (int) ((long) all * chunk / chunks); i < (int) ((long) all * (chunk + 1) / chunks); i++) {
            block(call, worker, i / blocks / groups, i / blocks % groups, i % blocks * BLOCK);
        }
    }

    private void block(Call call, int worker, int image, int group, int first) {
        int pixels = sliding.outputs();
        int count = Math.min(BLOCK, pixels - first);
        int inChannels = x.type().axis(1) / groups;
        int inputs = inChannels * sliding.taps();
        int panels = Math.ceilDiv(count, Lanes.COUNT);
        float[] packed = call.packed(worker, 0, Panels.length(BLOCK, inputs));
        for (int panel = 0; panel < panels; panel++) {
            int from = x.offset() + (image * groups + group) * inChannels * sliding.inputs();
            int at = first + panel * Lanes.COUNT;
            pack(x.array(call), from, inChannels, at, Math.min(Lanes.COUNT, pixels - at), packed, panel * inputs);
        }
        Panels seen = new Panels.F32(count, inputs, packed);
        int rows = channels();
        int channel = group * rows;
        int to = out.offset() + (image * out.type().axis(1) + channel) * pixels + first;
        call.kernels
                .linear(seen, rows)
                .linear(
                        weight.array(call),
                        weight.offset() + channel * inputs,
                        rows,
                        seen,
                        null,
                        null,
                        0,
                        0,
                        panels,
                        out.array(call),
                        to,
                        pixels,
                        call.scratch(worker, Kernels.linearScratch(seen, rows)));
        if (bias != null) {
            float[] shifts = bias.array(call);
            for (int row = 0; row < rows; row++) {
                add(shifts[bias.offset() + channel + row], out.array(call), to + row * pixels, count);
            }
        }
    }

    private static void add(float shift, float[] to, int at, int count) {
        for (int i = 0; i < count; i++) {
            to[at + i] += shift;
        }
    }

    /** What every tap of every channel sees at some pixels, {@code [inputs][16]}; runs of neighbours are copied at once. */
    private void pack(float[] in, int from, int channels, int first, int count, float[] to, int input) {
        int[] sources = new int[Lanes.COUNT];
        int taps = sliding.taps();
        for (int tap = 0; tap < taps; tap++) {
            boolean holes = count < Lanes.COUNT;
            boolean run = true;
            for (int lane = 0; lane < count; lane++) {
                sources[lane] = transposed ? sliding.spread(first + lane, tap) : sliding.source(first + lane, tap);
                holes |= sources[lane] < 0;
                run &= sources[lane] == sources[0] + lane;
            }
            for (int channel = 0; channel < channels; channel++) {
                int at = (input + channel * taps + tap) * Lanes.COUNT;
                int source = from + channel * sliding.inputs();
                if (run && !holes) {
                    System.arraycopy(in, source + sources[0], to, at, Lanes.COUNT);
                } else {
                    scatter(in, source, sources, count, to, at);
                }
            }
        }
    }

    private static void scatter(float[] in, int source, int[] sources, int count, float[] to, int at) {
        for (int lane = 0; lane < count; lane++) {
            to[at + lane] = sources[lane] < 0 ? 0f : in[source + sources[lane]];
        }
        Arrays.fill(to, at + count, at + Lanes.COUNT, 0f);
    }
}
