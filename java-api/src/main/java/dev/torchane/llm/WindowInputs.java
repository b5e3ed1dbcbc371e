package dev.torchane.llm;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/** The input tensors of one function, allocated once and filled for each window. */
final class WindowInputs {

    /** A closed column of the mask: not minus infinity, which some hardware's softmax does not survive. */
    static final float CLOSED = -40000f;

    private final ModelShape shape;
    private final Embedding embedding;
    private final int rows;
    private final int columns;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final float[] embeddingRow;
    private final float[] maskRow;

    /**
     * @param columns of the state
     * @throws IllegalArgumentException when the function has an input that this loop does not know
     */
    WindowInputs(Function function, ModelShape shape, Embedding embedding, int rows, int columns) {
        this.shape = shape;
        this.embedding = embedding;
        this.rows = rows;
        this.columns = columns;
        this.embeddingRow = new float[shape.hidden()];
        this.maskRow = new float[columns];
        for (Value input : function.tensors()) {
            tensors.put(input.name(), Tensor.allocate(input.type()));
        }
        for (String name : tensors.keySet()) {
            switch (name) {
                case "emb", "cos", "sin", "cos_local", "sin_local", "mask", "mask_local", "step", "pick" -> {}
                default ->
                    throw new IllegalArgumentException("function " + function.name() + " has the input '" + name
                            + "', which is not one of a language model");
            }
        }
    }

    Map<String, Tensor> tensors() {
        return tensors;
    }

    /**
     * Fills every row: tokens up to {@code window.to()}, padding behind (token 0, seeing column 0 only). The picked row is the
     * last token's.
     *
     * @param tokens all ids of the stream, at least {@code window.to()}
     */
    void fill(Window window, int[] tokens) {
        int valid = window.to() - window.start();
        Tensor emb = tensors.get("emb");
        for (int row = 0; row < rows; row++) {
            embedding.lookup(row < valid ? tokens[window.start() + row] : 0, embeddingRow);
            putRow(emb, row, embeddingRow);
        }
        fillRope("cos", "sin", shape.rope(), window.start());
        shape.localRope().ifPresent(rope -> fillRope("cos_local", "sin_local", rope, window.start()));
        fillMask("mask", window.start(), valid, Integer.MAX_VALUE);
        fillMask("mask_local", window.start(), valid, shape.slidingWindow());
        tensors.get("step").set(0, window.start());
        Tensor pick = tensors.get("pick");
        for (int row = 0; row < rows; row++) {
            pick.set(row, row == valid - 1 ? 1 : 0);
        }
    }

    private void fillRope(String cosName, String sinName, Rope rope, int start) {
        Tensor cos = tensors.get(cosName);
        Tensor sin = tensors.get(sinName);
        if (cos == null || sin == null) {
            return;
        }
        float[] cosRow = new float[rope.dim()];
        float[] sinRow = new float[rope.dim()];
        for (int row = 0; row < rows; row++) {
            rope.row(start + row, cosRow, sinRow);
            putRow(cos, row, cosRow);
            putRow(sin, row, sinRow);
        }
    }

    private void fillMask(String name, int start, int valid, int sliding) {
        Tensor mask = tensors.get(name);
        if (mask == null) {
            return;
        }
        for (int row = 0; row < rows; row++) {
            int last = row < valid ? start + row : 0;
            long first = row < valid ? Math.max(0L, (long) last - sliding + 1) : 0;
            for (int column = 0; column < columns; column++) {
                maskRow[column] = column >= first && column <= last ? 0 : CLOSED;
            }
            putRow(mask, row, maskRow);
        }
    }

    private static void putRow(Tensor tensor, int row, float[] values) {
        MemorySegment data = tensor.data();
        if (tensor.type().dtype() == DType.FP32) {
            MemorySegment.copy(
                    values, 0, data, ValueLayout.JAVA_FLOAT_UNALIGNED, (long) row * values.length * 4, values.length);
            return;
        }
        for (int i = 0; i < values.length; i++) {
            tensor.set((long) row * values.length + i, values[i]);
        }
    }
}
