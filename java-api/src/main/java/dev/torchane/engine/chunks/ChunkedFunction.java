package dev.torchane.engine.chunks;

import dev.torchane.TorchAneException;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A function of a model in chunks: that of every chunk, one after another, over the same rows. */
final class ChunkedFunction implements LoadedFunction {

    private static final String EMBEDDING = "emb";
    private static final String HIDDEN = "hidden";
    private static final String LOGITS = "logits";

    private final List<Chunk> layers;
    private final List<Chunk> heads;
    private final Residency residency;
    private final String name;
    private final Function signature;

    ChunkedFunction(List<Chunk> layers, List<Chunk> heads, Residency residency, String name) {
        this.layers = layers;
        this.heads = heads;
        this.residency = residency;
        this.name = name;
        this.signature = signature(layers, heads, name);
    }

    /** What the chunks take and give together. */
    private static Function signature(List<Chunk> layers, List<Chunk> heads, String name) {
        Map<String, Value> tensors = new LinkedHashMap<>();
        List<Value> states = new ArrayList<>();
        List<Chunk> all = new ArrayList<>(layers);
        all.addAll(heads);
        for (int i = 0; i < all.size(); i++) {
            Function function = all.get(i).signature(name);
            for (Value tensor : function.tensors()) {
                Value known = tensors.putIfAbsent(tensor.name(), tensor);
                if (known != null && !known.type().equals(tensor.type())) {
                    throw new TorchAneException("the chunk " + all.get(i).part().path() + " takes '" + tensor.name()
                            + "' as " + tensor.type() + ", one before it as " + known.type()
                            + ": build the model again");
                }
            }
            for (Value state : function.states()) {
                states.add(new Value(ChunkedState.name(state.name(), i), state.type(), true));
            }
        }
        int vocab = 0;
        Value logits = null;
        for (Chunk head : heads) {
            logits = output(head.signature(name), LOGITS, head);
            vocab += logits.type().axis(1);
        }
        for (Chunk chunk : layers) {
            output(chunk.signature(name), HIDDEN, chunk);
        }
        List<Value> inputs = new ArrayList<>(tensors.values());
        inputs.addAll(states);
        TensorType type = logits.type().withShape(List.of(logits.type().axis(0), vocab));
        return new Function(
                name, layers.getFirst().signature(name).opset(), inputs, List.of(), List.of(new Value(LOGITS, type)));
    }

    private static Value output(Function function, String name, Chunk chunk) {
        return function.outputs().stream()
                .filter(output -> output.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new TorchAneException(
                        "the chunk " + chunk.part().path() + " has no output '" + name + "': build the model again"));
    }

    @Override
    public Function signature() {
        return signature;
    }

    @Override
    public State newState() {
        return new ChunkedState(layers, name);
    }

    @Override
    public Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange rows) {
        if (!(state instanceof ChunkedState own) || own.chunks() != layers) {
            throw new IllegalArgumentException("the state was not made by this program's newState()");
        }
        Map<String, Tensor> given = new HashMap<>(inputs);
        for (int i = 0; i < layers.size(); i++) {
            residency.runs(i);
            LoadedFunction function = layers.get(i).function(name);
            Map<String, Tensor> results = function.run(taken(function, given), own.of(i), rows);
            given.put(EMBEDDING, results.get(HIDDEN));
            residency.ran(i);
        }
        List<Tensor> parts = new ArrayList<>();
        for (int i = 0; i < heads.size(); i++) {
            residency.runs(layers.size() + i);
            LoadedFunction function = heads.get(i).function(name);
            try (State none = function.newState()) {
                parts.add(function.run(taken(function, given), none, rows).get(LOGITS));
            }
            residency.ran(layers.size() + i);
        }
        return Map.of(LOGITS, parts.size() == 1 ? parts.getFirst() : joined(parts));
    }

    private static Map<String, Tensor> taken(LoadedFunction function, Map<String, Tensor> given) {
        Map<String, Tensor> taken = new HashMap<>();
        for (Value input : function.signature().tensors()) {
            Tensor tensor = given.get(input.name());
            if (tensor == null) {
                throw new IllegalArgumentException(
                        "the input '" + input.name() + "' is missing; given are " + given.keySet());
            }
            taken.put(input.name(), tensor);
        }
        return taken;
    }

    /** Rows of logits from the columns that each part of the head computed. */
    private Tensor joined(List<Tensor> parts) {
        Tensor all = Tensor.allocate(signature.outputs().getFirst().type());
        int rows = all.type().axis(0);
        long rowBytes = all.data().byteSize() / rows;
        long at = 0;
        for (Tensor part : parts) {
            long bytes = part.data().byteSize() / rows;
            for (int row = 0; row < rows; row++) {
                MemorySegment.copy(part.data(), row * bytes, all.data(), row * rowBytes + at, bytes);
            }
            at += bytes;
        }
        return all;
    }
}
