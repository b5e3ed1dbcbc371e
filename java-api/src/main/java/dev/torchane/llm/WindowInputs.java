package dev.torchane.llm;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
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
    private final List<RopeInputs> ropes = new ArrayList<>();
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
        addRope(shape.rope(), "cos", "sin");
        shape.localRope().ifPresent(rope -> addRope(rope, "cos_local", "sin_local"));
    }

    /** The inputs of one RoPE base, and a row of each to compute in. */
    private record RopeInputs(Rope rope, Tensor cos, Tensor sin, float[] cosRow, float[] sinRow) {

        void fill(int row, int position) {
            rope.row(position, cosRow, sinRow);
            putRow(cos, row, cosRow);
            putRow(sin, row, sinRow);
        }
    }

    private void addRope(Rope rope, String cosName, String sinName) {
        Tensor cos = tensors.get(cosName);
        Tensor sin = tensors.get(sinName);
        if (cos != null && sin != null) {
            ropes.add(new RopeInputs(rope, cos, sin, new float[rope.dim()], new float[rope.dim()]));
        }
    }

    Map<String, Tensor> tensors() {
        return tensors;
    }

    /**
     * Fills every row: tokens up to {@code window.to()}, padding behind (token 0, seeing column 0 only). The picked row is the
     * last token's, where a function picks one.
     *
     * @param tokens all ids of the stream, at least {@code window.to()}
     */
    void fill(Window window, int[] tokens) {
        int valid = window.to() - window.start();
        for (int row = 0; row < rows; row++) {
            int position = window.start() + row;
            token(row, row < valid ? tokens[position] : 0, position);
            int last = row < valid ? position : 0;
            sees(row, "mask", 0, last);
            sees(row, "mask_local", row < valid ? Math.max(0, last - shape.slidingWindow() + 1) : 0, last);
        }
        tensors.get("step").set(0, window.start());
        Tensor pick = tensors.get("pick");
        for (int row = 0; pick != null && row < rows; row++) {
            pick.set(row, row == valid - 1 ? 1 : 0);
        }
    }

    /**
     * Fills every row with a token of a stream of its own, or padding.
     *
     * @param step column of row 0
     * @param members stream of each row; null for padding
     * @param indices position of each row's token in its stream
     */
    void fill(int step, BatchMember[] members, int[] indices) {
        for (int row = 0; row < rows; row++) {
            BatchMember member = members[row];
            int position = member == null ? 0 : indices[row];
            token(row, member == null ? 0 : member.token(position), position);
            if (member == null) {
                sees(row, "mask", 0, 0);
                sees(row, "mask_local", 0, 0);
            } else {
                sees(row, "mask", member, 0, position);
                sees(row, "mask_local", member, Math.max(0, position - shape.slidingWindow() + 1), position);
            }
        }
        tensors.get("step").set(0, step);
    }

    private void token(int row, int id, int position) {
        embedding.lookup(id, embeddingRow);
        putRow(tensors.get("emb"), row, embeddingRow);
        ropes.forEach(each -> each.fill(row, position));
    }

    /** Opens the columns from {@code first} to {@code last}, both included. */
    private void sees(int row, String name, int first, int last) {
        Tensor mask = tensors.get(name);
        if (mask != null) {
            Arrays.fill(maskRow, CLOSED);
            Arrays.fill(maskRow, first, last + 1, 0);
            putRow(mask, row, maskRow);
        }
    }

    /** Opens the columns of a stream's tokens from {@code first} to {@code last}, both included. */
    private void sees(int row, String name, BatchMember member, int first, int last) {
        Tensor mask = tensors.get(name);
        if (mask != null) {
            Arrays.fill(maskRow, CLOSED);
            for (int position = first; position <= last; position++) {
                maskRow[member.column(position)] = 0;
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
