package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class FunctionContractTest {

    private final ModelShape shape = CountingProgram.shape(64, 16, 64);
    private final Function good =
            new CountingProgram(shape).function("decode_64").signature();

    @Test
    void given_the_function_of_its_manifest_when_it_is_verified_then_it_passes() {
        FunctionContract.verify(good, shape, 8, 64, true);
    }

    @Test
    void given_a_program_of_another_manifest_when_it_is_verified_then_the_difference_is_named() {
        refused("'emb' to be fp32 or fp16 [1, 8, 1]", changed("emb", v -> typed(v, DType.FP32, 1, 8, 2)));
        refused("'cos' to be fp32 or fp16 [1, 8, 2]", changed("cos", v -> typed(v, DType.FP32, 1, 8, 1)));
        refused("'mask' to be", changed("mask", v -> typed(v, DType.FP32, 1, 1, 8, 65)));
        refused("'pick' to be", changed("pick", v -> typed(v, DType.INT32, 1, 8)));
        refused("'step' to be int32 [1]", changed("step", v -> typed(v, DType.FP32, 1)));
        refused("found 'stap'", changed("step", v -> new Value("stap", v.type())));
        refused("'key_cache' to be fp32 or fp16 [1, 1, 1, 64, 1]", changed("key_cache", v -> state(v, 1, 1, 1, 72, 1)));
        refused("'logits' to be fp32 or fp16 [1, 97]", changed("logits", v -> typed(v, DType.FP32, 1, 98)));
        refused("an output 'logits'", changed("logits", v -> new Value("lagits", v.type())));
        refused(
                "an input 'pick'",
                new Function(
                        good.name(),
                        good.opset(),
                        good.inputs().stream()
                                .filter(v -> !v.name().equals("pick"))
                                .toList(),
                        List.of(),
                        good.outputs()));
    }

    @Test
    void given_a_manifest_with_other_layers_heads_or_head_sizes_when_states_are_verified_then_they_are_refused() {
        for (int[] axes : new int[][] {{2, 1, 1, 64, 1}, {1, 1, 2, 64, 1}, {1, 1, 1, 64, 2}, {64, 1}}) {
            refused("(layers, 1, kvHeads, columns, headDim)", changed("key_cache", v -> state(v, axes)));
        }
    }

    @Test
    void given_rungs_with_different_heads_when_they_are_compared_then_the_states_are_named() {
        Function other = changed("key_cache", v -> state(v, 1, 1, 2, 64, 1));
        String message = assertThrows(TorchAneException.class, () -> FunctionContract.verifySameStates(other, good))
                .getMessage();
        assertTrue(message.contains("key_cache"), message);
    }

    private void refused(String expected, Function function) {
        String message = assertThrows(
                        TorchAneException.class, () -> FunctionContract.verify(function, shape, 8, 64, true))
                .getMessage();
        assertTrue(message.contains(expected) && message.contains("decode_64"), message);
    }

    private static Value typed(Value value, DType dtype, int... axes) {
        return new Value(value.name(), TensorType.of(dtype, axes), value.state());
    }

    private static Value state(Value value, int... axes) {
        return new Value(value.name(), TensorType.of(DType.FP32, axes), true);
    }

    private Function changed(String name, UnaryOperator<Value> change) {
        UnaryOperator<Value> one = value -> value.name().equals(name) ? change.apply(value) : value;
        return new Function(
                good.name(),
                good.opset(),
                good.inputs().stream().map(one).toList(),
                List.of(),
                good.outputs().stream().map(one).toList());
    }
}
