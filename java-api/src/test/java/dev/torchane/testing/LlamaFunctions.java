package dev.torchane.testing;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions of a small llama in the form of docs/architecture.md.
 *
 * @param stateType type of keys and values
 * @param weights gives each weight by name, such as {@code 0q} for the query of layer 0, {@code 1n2}, {@code norm}, {@code head}
 */
public record LlamaFunctions(
        int layers,
        int hidden,
        int heads,
        int kv,
        int dim,
        int mlp,
        int vocab,
        double epsilon,
        DType stateType,
        Weights weights) {

    /** Where weights come from. */
    @FunctionalInterface
    public interface Weights {
        Value of(FunctionBuilder f, String name, int... shape);
    }

    /** A function for windows of one stream: the logits {@code [1, vocab]} of the row that {@code pick} wants. */
    public void window(ProgramBuilder builder, String name, int rows, int columns) {
        new Writer(builder.function(name), rows, columns).write(true);
    }

    /** A function whose rows belong to different streams: the logits {@code [rows, vocab]} of every row. */
    public void batch(ProgramBuilder builder, String name, int rows, int columns) {
        new Writer(builder.function(name), rows, columns).write(false);
    }

    /** Some layers alone, with states of their own: from {@code emb} to {@code hidden}. */
    public void chunk(ProgramBuilder builder, String name, int rows, int columns, int first, int count) {
        new Writer(builder.function(name), rows, columns).writeLayers(first, count);
    }

    /** What is behind the layers, for {@code count} entries of the vocabulary: the weight {@code head} is of so many rows. */
    public void head(ProgramBuilder builder, String name, int rows, int count, boolean one) {
        Writer writer = new Writer(builder.function(name), rows, 0);
        writer.head(writer.f.input("emb", TensorType.of(DType.FP32, 1, rows, hidden)), writer.pick(one), count);
    }

    private final class Writer {

        private final FunctionBuilder f;
        private final int rows;
        private final int columns;
        private Value mask;
        private Value step;
        private Value cos;
        private Value sin;

        Writer(FunctionBuilder f, int rows, int columns) {
            this.f = f;
            this.rows = rows;
            this.columns = columns;
        }

        void write(boolean one) {
            Value x = declare();
            Value pick = pick(one);
            x = layers(x, 0, layers);
            head(x, pick, vocab);
        }

        void writeLayers(int first, int count) {
            Value x = layers(declare(), first, count);
            f.done(Map.of("hidden", x));
        }

        private Value declare() {
            Value x = f.input("emb", TensorType.of(DType.FP32, 1, rows, hidden));
            Value cosInput = f.input("cos", TensorType.of(DType.FP32, 1, rows, dim));
            Value sinInput = f.input("sin", TensorType.of(DType.FP32, 1, rows, dim));
            mask = f.input("mask", TensorType.of(DType.FP32, 1, 1, rows, columns));
            step = f.input("step", TensorType.of(DType.INT32, 1));
            cos = f.expandDims("cos_rows", cosInput, 1);
            sin = f.expandDims("sin_rows", sinInput, 1);
            return x;
        }

        private Value pick(boolean one) {
            return one ? f.input("pick", TensorType.of(DType.FP32, 1, rows)) : null;
        }

        private Value layers(Value emb, int first, int count) {
            Value keys = f.state("key_cache", TensorType.of(stateType, count, 1, kv, columns, dim));
            Value values = f.state("value_cache", TensorType.of(stateType, count, 1, kv, columns, dim));
            Value x = emb;
            for (int layer = 0; layer < count; layer++) {
                x = layer(first + layer, layer, x, keys, values);
            }
            return x;
        }

        private void head(Value hiddenRows, Value pick, int entries) {
            boolean one = pick != null;
            Value x = hiddenRows;
            if (one) {
                Value wide = f.expandDims("pick_wide", pick, -1);
                x = f.reduce("reduce_sum", "picked", f.mul("masked_rows", x, wide), List.of(1), true);
            }
            Value normed = f.rmsNorm("final", x, weight("norm", hidden), epsilon);
            Value logits = f.linear("head", normed, weight("head", entries, hidden));
            f.done(Map.of("logits", f.reshape("flat", logits, one ? 1 : rows, entries)));
        }

        private Value layer(int layer, int row, Value x, Value keys, Value values) {
            String p = "l" + layer + "_";
            Value n1 = f.rmsNorm(p + "n1", x, weight(layer + "n1", hidden), epsilon);
            Value q = heads(p + "q", f.linear(p + "q", n1, weight(layer + "q", heads * dim, hidden)), heads);
            Value k = f.linear(p + "k", n1, weight(layer + "k", kv * dim, hidden), weight(layer + "bias", kv * dim));
            k = heads(p + "k", k, kv);
            Value v = heads(p + "v", f.linear(p + "v", n1, weight(layer + "v", kv * dim, hidden)), kv);
            q = f.rope(p + "q_rope", q, cos, sin);
            k = f.rope(p + "k_rope", k, cos, sin);
            k = store(p + "k", row, k, keys);
            v = store(p + "v", row, v, values);
            Value mixed = f.attention(p + "sdpa", q, k, v, mask, 1 / Math.sqrt(dim));
            mixed = f.reshape(p + "mixed", f.transpose(p + "rows", mixed, 0, 2, 1, 3), 1, rows, heads * dim);
            Value x1 = f.add(p + "x1", x, f.linear(p + "o", mixed, weight(layer + "o", hidden, heads * dim)));
            Value n2 = f.rmsNorm(p + "n2", x1, weight(layer + "n2", hidden), epsilon);
            Value gate = f.linear(p + "gate", n2, weight(layer + "gate", mlp, hidden));
            Value up = f.linear(p + "up", n2, weight(layer + "up", mlp, hidden));
            Value act = f.swiglu(p + "act", gate, up);
            return f.add(p + "x2", x1, f.linear(p + "down", act, weight(layer + "down", hidden, mlp)));
        }

        private Value weight(String name, int... shape) {
            return weights.of(f, name, shape);
        }

        private Value heads(String name, Value x, int count) {
            return f.transpose(name + "_heads", f.reshape(name + "_split", x, 1, rows, count, dim), 0, 2, 1, 3);
        }

        private Value store(String name, int layer, Value update, Value state) {
            Value zero = f.constant(Literal.int32s(0));
            Value index = f.constant(Literal.int32s(layer));
            Value begin = f.concat(name + "_begin", List.of(index, zero, zero, step, zero), 0);
            Value end = f.concat(
                    name + "_end",
                    List.of(
                            f.constant(Literal.int32s(layer + 1)),
                            f.constant(Literal.int32s(1)),
                            f.constant(Literal.int32s(kv)),
                            f.add(name + "_last", step, Literal.int32s(rows)),
                            f.constant(Literal.int32s(dim))),
                    0);
            Value narrow = stateType == DType.FP32 ? update : f.cast(name + "_narrow", update, stateType);
            Value wide = f.expandDims(name + "_block", narrow, 0);
            Value old = f.readState(name + "_old", state);
            f.writeState(name + "_write", state, f.sliceUpdate(name + "_new", old, wide, begin, end));
            Value all = f.readState(name + "_all", state);
            Map<String, Operand> slice = new LinkedHashMap<>();
            slice.put("x", all);
            slice.put("begin", Literal.int32s(layer, 0, 0, 0, 0));
            slice.put("end", Literal.int32s(layer + 1, 1, kv, columns, dim));
            slice.put("squeeze_mask", Literal.bools(true, false, false, false, false));
            Value block = f.apply("slice_by_index", name + "_layer", slice);
            return stateType == DType.FP32 ? block : f.cast(name + "_wide", block, DType.FP32);
        }
    }
}
