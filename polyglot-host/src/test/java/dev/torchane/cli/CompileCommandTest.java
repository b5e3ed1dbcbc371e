package dev.torchane.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.build.ModuleInputs;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CompileCommandTest {

    @Test
    void aNameThatIsGivenAgainBeginsTheNextFunction() {
        List<ModuleInputs> functions =
                CompileCommand.shapes(List.of("ids:int32[1,8]", "scale:fp32[]", "ids:int32[1, 16]", "scale:fp32[]"));

        assertEquals(
                List.of(
                        ModuleInputs.of("ids", TensorType.of(DType.INT32, 1, 8))
                                .and("scale", TensorType.of(DType.FP32)),
                        ModuleInputs.of("ids", TensorType.of(DType.INT32, 1, 16))
                                .and("scale", TensorType.of(DType.FP32))),
                functions);
    }

    @Test
    void anInputThatIsWrittenOtherwiseIsRefused() {
        TorchAneException refused =
                assertThrows(TorchAneException.class, () -> CompileCommand.shapes(List.of("image=1x3")));

        assertTrue(refused.getMessage().contains("image:fp32[1,3,224,224]"), refused.getMessage());
    }

    @Test
    void argumentsAreNumbersTruthValuesOrTexts() {
        assertEquals(
                Map.of("width", 8L, "rate", 0.5, "bias", true, "kind", "basic"),
                CompileCommand.values(Map.of("width", "8", "rate", "0.5", "bias", "true", "kind", "basic")));
    }
}
