package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.Program;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How results are rounded, and what is refused. */
class NumericsTest {

    private static final TensorType HALF = TensorType.of(DType.FP16, 2);

    @Test
    void declaredNumericsOverflowLikeTheHardware() {
        Tensor found = OneOperation.of("mul")
                .in("x", HALF, 300, 0.1f)
                .in("y", HALF, 300, 0.1f)
                .declared()
                .run()
                .getFirst();
        assertEquals(Float.POSITIVE_INFINITY, found.get(0));
        float tenth = Float.float16ToFloat(Float.floatToFloat16(0.1f));
        assertEquals(Float.float16ToFloat(Float.floatToFloat16(tenth * tenth)), found.get(1));
    }

    @Test
    void overflowInsideAProgramIsLostInFp32Numerics() {
        for (boolean declared : new boolean[] {true, false}) {
            OneOperation operation =
                    OneOperation.of("real_div").in("z", HALF, 300, 1).in("y", HALF, 300, 1);
            operation.square("z", "x");
            if (declared) {
                operation.declared();
            }
            float expected = declared ? Float.POSITIVE_INFINITY : 300;
            assertEquals(expected, operation.run().getFirst().get(0));
        }
    }

    @Test
    void declaredNumericsRoundDequantisedWeights() {
        for (boolean declared : new boolean[] {true, false}) {
            OneOperation operation = OneOperation.of("linear").in("x", TensorType.of(DType.FP16, 1, 1), 1024);
            Value data = operation.f.constant("d", operation.weights.add(TensorType.of(DType.INT8, 1, 1), 101));
            Value scale = operation.f.constant("s", operation.weights.add(TensorType.of(DType.FP16, 1, 1), 0.0999f));
            operation.with("weight", operation.f.blockwiseShiftScale("w", data, scale));
            if (declared) {
                operation.declared();
            }
            float exact = 101 * half(0.0999f);
            float expected = declared ? half(1024 * half(exact)) : half(1024 * exact);
            assertEquals(expected, operation.run().getFirst().get(0));
        }
    }

    private static float half(float value) {
        return Float.float16ToFloat(Float.floatToFloat16(value));
    }

    @Test
    void integersThatFp32CannotHoldAreRefused() {
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> OneOperation.of("add")
                        .in("x", TensorType.of(DType.INT32, 1), 1 << 25)
                        .in("y", TensorType.of(DType.INT32, 1), 1)
                        .run());
        assertTrue(e.getMessage().contains("2^24"), e.getMessage());
    }

    @Test
    void anUnknownOperationIsRefusedByNameWhenTheProgramIsLoaded() {
        Value x = new Value("x", HALF);
        Value y = new Value("y", HALF);
        Operation strange = new Operation("quantum_leap", Map.of("x", List.of(x)), List.of(y), Map.of());
        Function main = new Function("main", "ios18", List.of(x), List.of(strange), List.of(y));
        Program program = new Program("1.3", Map.of(), List.of(main));
        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> JvmEngine.load(program, Map.of(), new TestWeights(), EngineOptions.defaults()));
        assertTrue(e.getMessage().contains("'quantum_leap'") && e.getMessage().contains("'y'"), e.getMessage());
    }

    @Test
    void theEngineIsFoundByName() {
        assertTrue(Engine.named("jvm").available());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Engine.named("abacus"));
        assertTrue(e.getMessage().contains("jvm"), e.getMessage());
    }
}
