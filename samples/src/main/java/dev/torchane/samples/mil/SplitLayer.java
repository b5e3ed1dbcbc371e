package dev.torchane.samples.mil;

import dev.torchane.CallQueue;
import dev.torchane.MilProgram;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Tensor;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.Value;
import dev.torchane.program.WeightFileWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * A decoder layer of Qwen3 as four small calls, {@code qkv}, {@code update}, {@code attend} and {@code mlp}, and as one,
 * {@code fused}. On the Neural Engine four small ones were faster than one large one; there, waiting between them costs more than
 * they do, so they are chained: every call of a token is enqueued at once, and only the last one is waited for. All layers of this
 * sample share one layer's random weights.
 */
public final class SplitLayer implements AutoCloseable {

    private static final double EPSILON = 1e-6;

    /** Rows of this sample are of the size of 1 to 100. */
    private static final double SCALE = 0.125;

    /** Sizes of a layer. */
    public record Shape(int hidden, int heads, int kvHeads, int dim, int inner, int context) {

        /** Qwen3-0.6B, with a context of 512. */
        public static Shape qwen3() {
            return new Shape(1024, 16, 8, 128, 3072, 512);
        }
    }

    /** The keys and values of a layer, {@code [1, kvHeads, context, dim]}. */
    private record Cache(CallQueue.Source keys, CallQueue.Source values) {}

    private final Shape shape;
    private final MilProgram program;

    /** Builds and loads the five functions. */
    public SplitLayer(Shape shape, EngineOptions options) {
        this.shape = shape;
        this.program = MilProgram.of(weights -> build(shape, weights), "jvm", options);
    }

    private static Program build(Shape shape, WeightFileWriter file) {
        ProgramBuilder program = ProgramBuilder.create();
        Layer layer = new Layer(shape, file);
        FunctionBuilder qkv = program.function("qkv");
        qkv.done(layer.qkv(qkv, layer.hidden(qkv)));
        FunctionBuilder update = program.function("update");
        Value key = update.input("k", Numbers.half(1, shape.kvHeads(), 1, shape.dim()));
        Value value = update.input("v", Numbers.half(1, shape.kvHeads(), 1, shape.dim()));
        update.done(layer.update(update, key, value));
        FunctionBuilder attend = program.function("attend");
        Value query = attend.input("q", Numbers.half(1, shape.heads(), 1, shape.dim()));
        Value keys = layer.cache(attend, "keys");
        Value values = layer.cache(attend, "values");
        attend.done(Map.of("y", layer.attend(attend, layer.hidden(attend), query, keys, values)));
        FunctionBuilder mlp = program.function("mlp");
        mlp.done(Map.of("y", layer.mlp(mlp, layer.hidden(mlp))));
        FunctionBuilder fused = program.function("fused");
        Value x = layer.hidden(fused);
        Map<String, Value> projected = layer.qkv(fused, x);
        Map<String, Value> cache = new LinkedHashMap<>(layer.update(fused, projected.get("k"), projected.get("v")));
        Value attended = layer.attend(fused, x, projected.get("q"), cache.get("new_keys"), cache.get("new_values"));
        cache.put("y", layer.mlp(fused, attended));
        fused.done(cache);
        return program.build();
    }

    /** Adds the parts of a layer to functions; its weights are random, and stored once. */
    private static final class Layer {

        private final Shape shape;
        private final WeightFileWriter file;
        private final Random random = new Random(6);
        private final Map<String, dev.torchane.program.Literal> stored = new LinkedHashMap<>();

        Layer(Shape shape, WeightFileWriter file) {
            this.shape = shape;
            this.file = file;
        }

        private Value weight(FunctionBuilder f, String name, int... sizes) {
            return f.constant(name, stored.computeIfAbsent(name, _ -> {
                Tensor values = Numbers.random(random, 1 / Math.sqrt(sizes[sizes.length - 1]), sizes);
                return BundleWriter.blob(values.type(), file.append(values.type(), values.data()));
            }));
        }

        Value hidden(FunctionBuilder f) {
            return f.input("x", Numbers.half(1, 1, shape.hidden()));
        }

        Value cache(FunctionBuilder f, String name) {
            return f.input(name, Numbers.half(1, shape.kvHeads(), shape.context(), shape.dim()));
        }

        Map<String, Value> qkv(FunctionBuilder f, Value x) {
            Value cos = f.input("cos", Numbers.half(1, 1, 1, shape.dim()));
            Value sin = f.input("sin", Numbers.half(1, 1, 1, shape.dim()));
            Value normed = ScaledRmsNorm.add(f, "norm", x, weight(f, "w_norm", shape.hidden()), EPSILON, SCALE);
            Map<String, Value> results = new LinkedHashMap<>();
            results.put("q", f.rope("q", heads(f, "q", normed, shape.heads(), true), cos, sin));
            results.put("k", f.rope("k", heads(f, "k", normed, shape.kvHeads(), true), cos, sin));
            results.put("v", heads(f, "v", normed, shape.kvHeads(), false));
            return results;
        }

        private Value heads(FunctionBuilder f, String name, Value x, int heads, boolean normed) {
            Value flat = f.linear(name + "_flat", x, weight(f, "w_" + name, heads * shape.dim(), shape.hidden()));
            Value split = f.reshape(name + "_split", flat, 1, 1, heads, shape.dim());
            Value each = normed
                    ? ScaledRmsNorm.add(
                            f, name + "_norm", split, weight(f, "w_" + name + "_norm", shape.dim()), EPSILON, SCALE)
                    : split;
            return f.transpose(name + "_heads", each, 0, 2, 1, 3);
        }

        Map<String, Value> update(FunctionBuilder f, Value key, Value value) {
            Value open = f.input("open", Numbers.half(1, 1, 1, shape.context()));
            Map<String, Value> results = new LinkedHashMap<>();
            results.put("new_keys", KvUpdate.bySelect(f, "updated_keys", cache(f, "keys"), key, open));
            results.put("new_values", KvUpdate.bySelect(f, "updated_values", cache(f, "values"), value, open));
            return results;
        }

        Value attend(FunctionBuilder f, Value x, Value query, Value keys, Value values) {
            Value mask = f.input("mask", Numbers.half(1, 1, 1, shape.context()));
            Value mixed = f.attention("mixed", query, keys, values, mask, 1 / Math.sqrt(shape.dim()));
            Value joined =
                    f.reshape("joined", f.transpose("rows", mixed, 0, 2, 1, 3), 1, 1, shape.heads() * shape.dim());
            Value out = f.linear("o", joined, weight(f, "w_o", shape.hidden(), shape.heads() * shape.dim()));
            return f.add("attended", x, out);
        }

        Value mlp(FunctionBuilder f, Value x) {
            Value normed = ScaledRmsNorm.add(f, "mlp_norm", x, weight(f, "w_mlp_norm", shape.hidden()), EPSILON, SCALE);
            Value gate = f.linear("gate", normed, weight(f, "w_gate", shape.inner(), shape.hidden()));
            Value up = f.linear("up", normed, weight(f, "w_up", shape.inner(), shape.hidden()));
            Value down = f.linear(
                    "down", SwiGlu.add(f, "active", gate, up), weight(f, "w_down", shape.hidden(), shape.inner()));
            return f.add("out", x, down);
        }
    }

    /** How the calls of a token are made. */
    public enum Way {
        /** Four calls for each layer, each waited for. */
        WAITING,
        /** Four calls for each layer, chained; the last is waited for. */
        CHAINED,
        /** One call for each layer, chained. */
        FUSED
    }

    /**
     * Computes tokens, one after another, each from the one before.
     *
     * @return the last layer's output for the last token, {@code [1, 1, hidden]}
     */
    public Tensor run(Way way, int layers, int tokens) {
        List<Cache> caches = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            CallQueue.Source empty =
                    CallQueue.given(Tensor.allocate(Numbers.half(1, shape.kvHeads(), shape.context(), shape.dim())));
            caches.add(new Cache(empty, empty));
        }
        Tensor x = Numbers.random(new Random(7), 1, 1, 1, shape.hidden());
        try (CallQueue queue = new CallQueue()) {
            for (int position = 0; position < tokens; position++) {
                Token token = new Token(queue, way, position);
                CallQueue.Call last = null;
                CallQueue.Source hidden = CallQueue.given(x);
                for (int layer = 0; layer < layers; layer++) {
                    last = token.layer(hidden, caches, layer);
                    hidden = last.output("y");
                }
                if (last != null) {
                    x = last.await().get("y");
                }
            }
        }
        return x;
    }

    /** The calls of one token. */
    private final class Token {

        private final CallQueue queue;
        private final Way way;
        private final Map<String, CallQueue.Source> place = new LinkedHashMap<>();

        Token(CallQueue queue, Way way, int position) {
            this.queue = queue;
            this.way = way;
            Tensor cos = Tensor.allocate(Numbers.half(1, 1, 1, shape.dim()));
            Tensor sin = Tensor.allocate(Numbers.half(1, 1, 1, shape.dim()));
            Tensor open = Tensor.allocate(Numbers.half(1, 1, 1, shape.context()));
            Tensor mask = Tensor.allocate(Numbers.half(1, 1, 1, shape.context()));
            Rope.angles(cos, sin, 0, position, shape.dim(), 1e6);
            open.set(position, 1);
            for (int column = position + 1; column < shape.context(); column++) {
                mask.set(column, -40_000);
            }
            Map.of("cos", cos, "sin", sin, "open", open, "mask", mask)
                    .forEach((name, tensor) -> place.put(name, CallQueue.given(tensor)));
        }

        private CallQueue.Call call(String function, Map<String, CallQueue.Source> inputs) {
            CallQueue.Call call = queue.enqueue(program, function, inputs);
            if (way == Way.WAITING) {
                call.await();
            }
            return call;
        }

        CallQueue.Call layer(CallQueue.Source x, List<Cache> caches, int layer) {
            Cache cache = caches.get(layer);
            CallQueue.Source cos = place.get("cos");
            CallQueue.Source sin = place.get("sin");
            CallQueue.Source open = place.get("open");
            CallQueue.Source mask = place.get("mask");
            if (way == Way.FUSED) {
                CallQueue.Call all = call(
                        "fused",
                        Map.of(
                                "x",
                                x,
                                "cos",
                                cos,
                                "sin",
                                sin,
                                "open",
                                open,
                                "mask",
                                mask,
                                "keys",
                                cache.keys(),
                                "values",
                                cache.values()));
                caches.set(layer, new Cache(all.output("new_keys"), all.output("new_values")));
                return all;
            }
            CallQueue.Call qkv = call("qkv", Map.of("x", x, "cos", cos, "sin", sin));
            CallQueue.Call update = call(
                    "update",
                    Map.of(
                            "k",
                            qkv.output("k"),
                            "v",
                            qkv.output("v"),
                            "open",
                            open,
                            "keys",
                            cache.keys(),
                            "values",
                            cache.values()));
            Cache next = new Cache(update.output("new_keys"), update.output("new_values"));
            caches.set(layer, next);
            CallQueue.Call attend = call(
                    "attend",
                    Map.of("x", x, "q", qkv.output("q"), "keys", next.keys(), "values", next.values(), "mask", mask));
            return call("mlp", Map.of("x", attend.output("y")));
        }
    }

    @Override
    public void close() {
        program.close();
    }

    /** Measures the three ways over 28 layers of Qwen3-0.6B's shape. */
    public static void main(String[] arguments) {
        int layers = 28;
        int tokens = 8;
        try (SplitLayer layer = new SplitLayer(Shape.qwen3(), EngineOptions.defaults())) {
            for (Way way : Way.values()) {
                layer.run(way, layers, 2);
            }
            for (int round = 0; round < 3; round++) {
                for (Way way : Way.values()) {
                    long begin = System.nanoTime();
                    layer.run(way, layers, tokens);
                    System.out.printf(
                            Locale.ROOT, "%-8s %7.1f ms a token%n", way, (System.nanoTime() - begin) / 1e6 / tokens);
                }
            }
        }
    }
}
