package dev.torchane.engine.jvm;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code out = x · weightᵀ + bias} for some rows, for one layer or for several that take the same rows: those share what is prepared
 * of the rows, and their threads meet once.
 */
record LinearStep(Operand x, int rows, List<Layer> layers, Optional<BlockInputs.Preparation> preparation)
        implements Step, WorkerPool.Task {

    /** Multiply-adds below which a chunk is not worth handing out. */
    private static final int GRAIN = 1 << 15;

    /**
     * One layer.
     *
     * @param bias null when it has none
     */
    record Layer(Panels weight, Operand bias, Operand out) {}

    static LinearStep of(Operand x, Panels weight, Operand bias, int rows, Operand out) {
        return of(x, rows, List.of(new Layer(weight, bias, out)));
    }

    private static LinearStep of(Operand x, int rows, List<Layer> layers) {
        Optional<BlockInputs.Preparation> preparation = layers.getFirst().weight() instanceof Panels.Blocks blocks
                ? Optional.of(new BlockInputs.Preparation(x, blocks, rows))
                : Optional.empty();
        return new LinearStep(x, rows, layers, preparation);
    }

    /** This step and another that comes directly after it as one, if their rows and what is prepared of them are the same. */
    Optional<LinearStep> joined(LinearStep next) {
        boolean same = x.buffer() == next.x.buffer() && x.start() == next.x.start() && rows == next.rows;
        Panels weight = layers.getFirst().weight();
        if (!same || !BlockInputs.alike(weight, next.layers.getFirst().weight())) {
            return Optional.empty();
        }
        List<Layer> all = new ArrayList<>(layers);
        all.addAll(next.layers);
        return Optional.of(of(x, rows, List.copyOf(all)));
    }

    @Override
    public void run(Call call) {
        preparation.ifPresent(each -> each.run(call));
        call.parallel(this, chunks(call.threads()));
    }

    /** Panels that a kernel takes together: chunks begin at multiples of it. */
    private int group() {
        return rows == 1 ? 4 : LinearScratch.GROUP;
    }

    private int groups(Layer layer) {
        return Math.ceilDiv(layer.weight().count(), group());
    }

    private int groups() {
        int groups = 0;
        for (int i = 0; i < layers.size(); i++) {
            groups += groups(layers.get(i));
        }
        return groups;
    }

    private int chunks(int threads) {
        long work = 0;
        for (int i = 0; i < layers.size(); i++) {
            Panels weight = layers.get(i).weight();
            work += (long) rows * weight.inputs() * weight.outputs();
        }
        int most = (int) Math.min(groups(), Math.max(1, work / GRAIN));
        // A few chunks for each thread, so that one that is late does not hold up the others; fewer where a chunk reads
        // long
        // streams of weights and little else.
        return threads == 1 ? 1 : Math.min(most, (rows == 1 ? 2 : 8) * threads);
    }

    @Override
    public void run(Call call, int chunk, int worker) {
        int chunks = chunks(call.threads());
        int all = groups();
        int from = (int) ((long) all * chunk / chunks);
        int to = (int) ((long) all * (chunk + 1) / chunks);
        int before = 0;
        for (int i = 0; i < layers.size(); i++) {
            Layer layer = layers.get(i);
            int groups = groups(layer);
            int first = Math.max(from - before, 0);
            int last = Math.min(to - before, groups);
            if (first < last) {
                run(call, layer, first * group(), Math.min(layer.weight().count(), last * group()), worker);
            }
            before += groups;
        }
    }

    private void run(Call call, Layer layer, int fromPanel, int toPanel, int worker) {
        Panels weight = layer.weight();
        Operand bias = layer.bias();
        call.kernels
                .linear(weight, rows)
                .linear(
                        x.array(call),
                        x.offset(),
                        rows,
                        weight,
                        call.prepared(0),
                        bias == null ? null : bias.array(call),
                        bias == null ? 0 : bias.offset(),
                        fromPanel,
                        toPanel,
                        layer.out().array(call),
                        layer.out().offset(),
                        weight.outputs(),
                        call.scratch(worker, Kernels.linearScratch(weight, rows)));
    }
}
