package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class RowAxesTest {

    private final Value emb = new Value("emb", TensorType.of(DType.FP32, 1, 8, 4));
    private final Function function = new Function("decode_32", "ios18", List.of(emb), List.of(), List.of(emb));

    @Test
    void given_a_row_axis_that_an_input_does_not_have_when_it_is_loaded_then_the_input_is_named() {
        assertEquals(OptionalInt.of(8), RowSpecializer.rows(function, Map.of("emb", 1)));
        String message = assertThrows(TorchAneException.class, () -> RowSpecializer.rows(function, Map.of("emb", 3)))
                .getMessage();
        assertTrue(message.contains("'emb'") && message.contains("axis 3"), message);
    }

    @Test
    void given_a_function_whose_rows_belong_to_streams_when_three_are_wanted_then_three_are_computed_to_the_end() {
        Function batch = TinyLlama.batchFunction();
        RowSpecializer.Result three =
                RowSpecializer.apply(batch, TinyLlama.ROW_AXES, 3).orElseThrow();
        assertEquals(Map.of("logits", 0), three.outputAxes());
        assertEquals(
                List.of(3, TinyLlama.VOCAB),
                three.function().outputs().getFirst().type().shape());
    }
}
