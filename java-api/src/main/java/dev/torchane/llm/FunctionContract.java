package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a function of a language model takes and gives, as the model's shape says. A program that differs belongs to another
 * manifest, or is damaged.
 */
final class FunctionContract {

    private FunctionContract() {}

    /**
     * @param rows of the window
     * @param columns of the state
     * @param picks whether it computes the logits of one row, else of all
     * @throws TorchAneException when an input, a state or the logits are missing, unknown or of another type; names what was
     *     expected and found
     */
    static void verify(Function function, ModelShape shape, int rows, int columns, boolean picks) {
        Map<String, List<Integer>> inputs = new LinkedHashMap<>();
        inputs.put("emb", List.of(1, rows, shape.hidden()));
        rope(inputs, "", Optional.of(shape.rope()), rows);
        rope(inputs, "_local", shape.localRope(), rows);
        inputs.put("mask", List.of(1, 1, rows, columns));
        inputs.put("mask_local", List.of(1, 1, rows, columns));
        inputs.put("step", List.of(1));
        if (picks) {
            inputs.put("pick", List.of(1, rows));
        }
        for (Value given : function.tensors()) {
            List<Integer> expected = inputs.get(given.name());
            if (expected == null) {
                throw refuse(function, "inputs among " + inputs.keySet(), "'" + given.name() + "'");
            }
            expect(function, given, expected, given.name().equals("step"));
        }
        for (String name : picks ? List.of("emb", "step", "pick") : List.of("emb", "step")) {
            if (function.tensors().stream().noneMatch(given -> given.name().equals(name))) {
                throw refuse(function, "an input '" + name + "'", names(function.tensors()));
            }
        }
        states(function, shape, columns);
        Value logits = function.outputs().stream()
                .filter(output -> output.name().equals("logits"))
                .findFirst()
                .orElseThrow(() -> refuse(function, "an output 'logits'", names(function.outputs())));
        expect(function, logits, List.of(picks ? 1 : rows, shape.vocab()), false);
    }

    /** Of a model in chunks each has a state of its own layers. */
    private static void states(Function function, ModelShape shape, int columns) {
        int layers = 0;
        for (Value state : function.states()) {
            TensorType type = state.type();
            boolean chunked = type.rank() == 5
                    && state.name().matches(".*_\\d+")
                    && type.axis(0) <= shape.kv().layers();
            int own = chunked ? type.axis(0) : shape.kv().layers();
            layers += own;
            List<Integer> expected =
                    List.of(own, 1, shape.kv().heads(), columns, shape.kv().headDim());
            if (!type.shape().equals(expected) || !real(type)) {
                throw refuse(
                        function,
                        "the state '" + state.name() + "' to be fp32 or fp16 " + expected
                                + " (layers, 1, kvHeads, columns, headDim)",
                        type.toString());
            }
        }
        if (layers % shape.kv().layers() != 0) {
            throw refuse(function, "states of " + shape.kv().layers() + " layers each", names(function.states()));
        }
    }

    /**
     * Checks that the states of two rungs differ in their columns only.
     *
     * @throws TorchAneException when they do not
     */
    static void verifySameStates(Function function, Function lower) {
        Map<String, List<Integer>> blocks = blocks(function);
        if (!blocks.equals(blocks(lower))) {
            throw refuse(
                    function,
                    "the states of " + lower.name() + " but for columns, " + blocks(lower),
                    blocks.toString());
        }
    }

    private static Map<String, List<Integer>> blocks(Function function) {
        Map<String, List<Integer>> blocks = new LinkedHashMap<>();
        for (Value state : function.states()) {
            List<Integer> axes = new java.util.ArrayList<>(state.type().shape());
            axes.remove(axes.size() - 2);
            blocks.put(state.name() + " " + state.type().dtype().mil(), axes);
        }
        return blocks;
    }

    private static void rope(Map<String, List<Integer>> inputs, String suffix, Optional<Rope> rope, int rows) {
        rope.ifPresent(known -> {
            inputs.put("cos" + suffix, List.of(1, rows, known.dim()));
            inputs.put("sin" + suffix, List.of(1, rows, known.dim()));
        });
    }

    private static void expect(Function function, Value value, List<Integer> shape, boolean whole) {
        TensorType type = value.type();
        boolean fits = whole ? type.dtype() == DType.INT32 : real(type);
        if (!fits || !type.shape().equals(shape)) {
            throw refuse(
                    function,
                    "'" + value.name() + "' to be " + (whole ? "int32 " : "fp32 or fp16 ") + shape,
                    type.toString());
        }
    }

    private static boolean real(TensorType type) {
        return type.dtype() == DType.FP32 || type.dtype() == DType.FP16;
    }

    private static String names(List<Value> values) {
        return values.stream().map(Value::name).toList().toString();
    }

    private static TorchAneException refuse(Function function, String expected, String found) {
        return new TorchAneException(
                "the function " + function.name() + " does not fit the manifest of its bundle: expected " + expected
                        + ", found " + found + "; build the bundle again");
    }
}
