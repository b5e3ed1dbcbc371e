package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.ChunkLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Divides a model into programs that keep {@link ChunkLimits}: the fewest, and those as even as they can be. */
final class ChunkPlanner {

    /** Rows of a part of the head are multiples of this. */
    private static final int ROWS = 64;

    private final ChunkLimits limits;

    ChunkPlanner(ChunkLimits limits) {
        this.limits = limits;
    }

    /** Some layers, or some rows of the head, from {@code first} on. */
    record Span(int first, int count) {}

    /**
     * The layers of each chunk.
     *
     * @param bytes of each layer's weights
     * @param operations each layer adds to the largest function
     * @throws TorchAneException when one layer alone is beyond a limit
     */
    List<Span> layers(long[] bytes, IntUnaryOperator operations) {
        for (int layer = 0; layer < bytes.length; layer++) {
            require("layer " + layer, bytes[layer], limits.bytes(), "bytes of weights");
            require("layer " + layer, operations.applyAsInt(layer), limits.operations(), "operations");
        }
        int fewest = fit(bytes, operations, limits.layers()).size();
        // The same number of chunks with as few layers in the largest as possible.
        int most = Math.ceilDiv(bytes.length, fewest);
        List<Span> spans = fit(bytes, operations, most);
        while (spans.size() > fewest) {
            spans = fit(bytes, operations, ++most);
        }
        return spans;
    }

    private List<Span> fit(long[] bytes, IntUnaryOperator operations, int most) {
        List<Span> spans = new ArrayList<>();
        int first = 0;
        long size = 0;
        long count = 0;
        for (int layer = 0; layer < bytes.length; layer++) {
            int own = operations.applyAsInt(layer);
            boolean full =
                    layer - first == most || size + bytes[layer] > limits.bytes() || count + own > limits.operations();
            if (full) {
                spans.add(new Span(first, layer - first));
                first = layer;
                size = 0;
                count = 0;
            }
            size += bytes[layer];
            count += own;
        }
        spans.add(new Span(first, bytes.length - first));
        return spans;
    }

    /**
     * The rows of each part of the head.
     *
     * @param bytes of the head's weights
     * @throws TorchAneException when a part of {@value #ROWS} rows is beyond a limit
     */
    List<Span> head(int rows, long bytes) {
        long parts = Math.ceilDiv(bytes, limits.bytes());
        int each = (int) Math.min(rows, Math.ceilDiv(Math.ceilDiv((long) rows, parts), ROWS) * ROWS);
        while (each > ROWS && Math.ceilDiv(bytes * each, rows) > limits.bytes()) {
            each = Math.ceilDiv(each - 1, ROWS) * ROWS == each ? each - ROWS : each / ROWS * ROWS;
        }
        require(each + " rows of the head", Math.ceilDiv(bytes * each, rows), limits.bytes(), "bytes of weights");
        List<Span> spans = new ArrayList<>();
        for (int first = 0; first < rows; first += each) {
            spans.add(new Span(first, Math.min(each, rows - first)));
        }
        return spans;
    }

    private static void require(String what, long found, long most, String unit) {
        if (found > most) {
            throw new TorchAneException(what + " has " + found + " " + unit + ", the limit of a program is " + most
                    + ": choose a smaller encoding of weights, or a larger limit");
        }
    }
}
