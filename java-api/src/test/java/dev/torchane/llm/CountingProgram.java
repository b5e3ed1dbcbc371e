package dev.torchane.llm;

import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A program that behaves like a language model as far as the loop can tell: it writes each wanted row's embedding (the token's
 * id) into its state, and its next token depends on every column that the picked row's mask opens, and on its position.
 */
final class CountingProgram implements LoadedProgram {

    static final int VOCAB = 97;

    private final ModelShape shape;
    /** Every call as {@code prefill_64 start=0 rows=0+5}. */
    final List<String> calls = new ArrayList<>();
    /** Whether rows outside the wanted range are computed too, as on hardware with fixed shapes. */
    boolean wholeWindows;
    /** Whether the logits turn to NaN. */
    boolean broken;

    CountingProgram(ModelShape shape) {
        this.shape = shape;
    }

    static ModelShape shape(int maxLen, int prefillWindow, Integer... ladder) {
        Rope rope = new Rope(new float[] {1f}, 1f);
        return new ModelShape(
                VOCAB,
                1,
                maxLen,
                prefillWindow,
                8,
                List.of(ladder),
                0,
                rope,
                Optional.empty(),
                new ModelShape.Kv(1, 1, 1));
    }

    LanguageModel model() {
        return new LanguageModel(this, shape, (id, row) -> row[0] = id + 1);
    }

    /** The token that follows {@code tokens}, computed directly. */
    static int next(List<Integer> tokens) {
        long sum = 0;
        for (int i = 0; i < tokens.size(); i++) {
            sum += (long) (tokens.get(i) + 1) * (i + 3);
        }
        return (int) ((sum + tokens.size()) % VOCAB);
    }

    @Override
    public Set<String> functions() {
        Set<String> names = new TreeSet<>();
        for (int rung : shape.ladder()) {
            names.add("prefill_" + rung);
            names.add("decode_" + rung);
        }
        return names;
    }

    @Override
    public LoadedFunction function(String name) {
        int columns = Integer.parseInt(name.substring(name.indexOf('_') + 1));
        int rows = name.startsWith("prefill") ? shape.prefillWindow() : shape.decodeWindow();
        return new Step(name, rows, columns);
    }

    @Override
    public void close() {}

    private final class Step implements LoadedFunction {

        private final String name;
        private final int rows;
        private final int columns;

        Step(String name, int rows, int columns) {
            this.name = name;
            this.rows = rows;
            this.columns = columns;
        }

        @Override
        public Function signature() {
            return new Function(
                    name,
                    "ios18",
                    List.of(
                            new Value("emb", TensorType.of(DType.FP32, 1, rows, 1)),
                            new Value("cos", TensorType.of(DType.FP32, 1, rows, 2)),
                            new Value("sin", TensorType.of(DType.FP32, 1, rows, 2)),
                            new Value("mask", TensorType.of(DType.FP32, 1, 1, rows, columns)),
                            new Value("step", TensorType.of(DType.INT32, 1)),
                            new Value("pick", TensorType.of(DType.FP32, 1, rows)),
                            new Value("key_cache", TensorType.of(DType.FP32, 1, 1, 1, columns, 1), true)),
                    List.of(),
                    List.of(new Value("logits", TensorType.of(DType.FP32, 1, VOCAB))));
        }

        @Override
        public State newState() {
            return new Columns(Tensor.allocate(TensorType.of(DType.FP32, 1, 1, 1, columns, 1)));
        }

        @Override
        public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange wanted) {
            int step = (int) inputs.get("step").get(0);
            calls.add(name + " start=" + step + " rows=" + wanted.start() + "+" + wanted.count());
            Tensor keys = state.tensor("key_cache");
            int from = wholeWindows ? 0 : wanted.start();
            int to = wholeWindows ? rows : wanted.start() + wanted.count();
            for (int row = from; row < to; row++) {
                keys.set(step + row, inputs.get("emb").get(row));
            }
            Tensor logits = Tensor.allocate(TensorType.of(DType.FP32, 1, VOCAB));
            for (int row = from; row < to; row++) {
                if (inputs.get("pick").get(row) == 1) {
                    logits.set(follow(keys, inputs.get("mask"), row, step), broken ? Float.NaN : 1);
                }
            }
            return Map.of("logits", logits);
        }

        private int follow(Tensor keys, Tensor mask, int row, int step) {
            long sum = 0;
            int open = 0;
            for (int column = 0; column < columns; column++) {
                if (mask.get((long) row * columns + column) == 0) {
                    sum += (long) keys.get(column) * (column + 3);
                    open++;
                }
            }
            if (open != step + row + 1) {
                throw new AssertionError(name + " row " + row + " sees " + open + " columns");
            }
            return (int) ((sum + open) % VOCAB);
        }
    }

    private record Columns(Tensor keys) implements State {
        @Override
        public Set<String> names() {
            return Set.of("key_cache");
        }

        @Override
        public Tensor tensor(String name) {
            return keys;
        }

        @Override
        public void zero() {
            keys.data().fill((byte) 0);
        }

        @Override
        public void close() {}
    }
}
