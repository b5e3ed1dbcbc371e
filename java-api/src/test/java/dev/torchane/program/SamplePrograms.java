package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Programs that tests share. */
final class SamplePrograms {

    private SamplePrograms() {}

    /** A language model's shape: layers of norms, rope, grouped attention over a state, and SwiGLU, for several rungs. */
    static Program languageModel(int layers, int... rungs) {
        ProgramBuilder program = ProgramBuilder.create().buildInfo("producer", "tests \"quoted\"");
        for (int rung : rungs) {
            decode(program.function("decode_" + rung), layers, rung);
        }
        return program.build();
    }

    private static void decode(FunctionBuilder f, int layers, int rung) {
        int rows = 8;
        int hidden = 64;
        int heads = 4;
        int kv = 2;
        int dim = 16;
        Value x = f.input("emb", type(1, rows, hidden));
        Value cos = f.input("cos", type(1, rows, dim));
        Value sin = f.input("sin", type(1, rows, dim));
        Value mask = f.input("mask", type(1, 1, rows, rung));
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value cosRows = f.expandDims("cos_rows", cos, 1);
        Value sinRows = f.expandDims("sin_rows", sin, 1);
        Value keys = f.state("key_cache", type(layers, 1, kv, rung, dim));
        Value values = f.state("value_cache", type(layers, 1, kv, rung, dim));
        for (int layer = 0; layer < layers; layer++) {
            String at = "layers." + layer + ".";
            Value normed = f.rmsNorm(at + "norm", x, weight(f, at + "norm_w", 64, hidden), 1e-5);
            Value q = heads(f, at + "q", normed, heads, dim);
            Value k = heads(f, at + "k", normed, kv, dim);
            Value v = heads(f, at + "v", normed, kv, dim);
            Value rotated = f.rope(at + "q_rope", q, cosRows, sinRows);
            Value allKeys = update(f, at + "keys", keys, f.rope(at + "k_rope", k, cosRows, sinRows), step, layer, rung);
            Value allValues = update(f, at + "values", values, v, step, layer, rung);
            Value mixed = f.attention(at + "attn", rotated, allKeys, allValues, mask, 0.25);
            Value joined = f.reshape(at + "joined", f.transpose(at + "t", mixed, 0, 2, 1, 3), 1, rows, heads * dim);
            Value out = f.linear(at + "o", joined, weight(f, at + "o_w", 128, hidden, heads * dim));
            x = f.add(at + "residual", x, out);
            Value gate = f.linear(at + "gate", x, weight(f, at + "gate_w", 192, 2 * hidden, hidden));
            Value up = f.linear(at + "up", x, weight(f, at + "up_w", 256, 2 * hidden, hidden));
            Value down =
                    f.linear(at + "down", f.swiglu(at + "mlp", gate, up), weight(f, at + "down_w", 320, hidden, 128));
            x = f.add(at + "out", x, down);
        }
        Map<String, Value> outputs = new LinkedHashMap<>();
        outputs.put("logits", x);
        f.done(outputs);
    }

    private static TensorType type(int... shape) {
        return TensorType.of(DType.FP32, shape);
    }

    private static Value weight(FunctionBuilder f, String name, long offset, int... shape) {
        return f.constant(name, new Literal.Blob(type(shape), "@model_path/weights/weight.bin", offset));
    }

    private static Value heads(FunctionBuilder f, String name, Value x, int heads, int dim) {
        Value flat = f.linear(
                name, x, weight(f, name + "_w", 64, heads * dim, x.type().axis(-1)));
        Value split = f.reshape(name + "_split", flat, 1, x.type().axis(1), heads, dim);
        return f.transpose(name + "_heads", split, 0, 2, 1, 3);
    }

    private static Value update(
            FunctionBuilder f, String name, Value state, Value rows, Value step, int layer, int rung) {
        int kv = state.type().axis(2);
        int dim = state.type().axis(4);
        int count = rows.type().axis(2);
        Value at = f.constant(Literal.int32s(layer));
        Value zero = f.constant(Literal.int32s(0));
        List<Operand> begin = new ArrayList<>(List.of(at, zero, zero, step, zero));
        Value after = f.add(name + "_after", step, Literal.int32s(count));
        List<Operand> end =
                List.of(Literal.int32s(layer + 1), Literal.int32s(1), Literal.int32s(kv), after, Literal.int32s(dim));
        Value updated = f.sliceUpdate(
                name + "_updated",
                f.readState(name + "_before", state),
                f.expandDims(name + "_rows", rows, 0),
                f.concat(name + "_begin", begin, 0),
                f.concat(name + "_end", end, 0));
        f.writeState(name + "_write", state, updated);
        return f.apply(
                "slice_by_index",
                name + "_layer",
                Map.of(
                        "x", f.readState(name + "_read", state),
                        "begin", Literal.int32s(layer, 0, 0, 0, 0),
                        "end", Literal.int32s(layer + 1, 1, kv, rung, dim),
                        "squeeze_mask", Literal.bools(true, false, false, false, false)));
    }
}
