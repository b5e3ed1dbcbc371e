package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.BundledProgram;
import dev.torchane.testing.LlamaFunctions;
import dev.torchane.testing.OnCoreAi;
import dev.torchane.weights.WeightType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A step of a small llama whose weights are stored in less than they are computed with. */
@Tag("full")
@ExtendWith(OnCoreAi.class)
class CompressedModelTest {

    private static final int ROWS = 8;
    private static final int COLUMNS = 32;

    private final Random random = new Random(11);
    private final List<MemorySegment> blobs = new ArrayList<>();

    private Literal.Blob bytes(TensorType type) {
        byte[] data = new byte[(int) type.bytes()];
        random.nextBytes(data);
        return add(type, MemorySegment.ofArray(data));
    }

    private Literal.Blob numbers(TensorType type, double mean, double spread) {
        Tensor tensor = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            tensor.set(i, (float) (mean + spread * random.nextGaussian()));
        }
        return add(type, tensor.data());
    }

    private Literal.Blob add(TensorType type, MemorySegment data) {
        blobs.add(data);
        return new Literal.Blob(type, Bundle.WEIGHTS_IN_PROGRAM, blobs.size() - 1);
    }

    private Value weight(String encoding, FunctionBuilder f, String name, int... shape) {
        if (shape.length == 1) {
            return f.constant(name, numbers(TensorType.of(DType.FP32, shape), name.contains("n") ? 1 : 0, 0.2));
        }
        int n = shape[0];
        int k = shape[1];
        double spread = 1 / Math.sqrt(k);
        return switch (encoding) {
            case "int8" ->
                f.blockwiseShiftScale(
                        name,
                        f.constant(name + "_data", bytes(TensorType.of(DType.INT8, n, k))),
                        f.constant(name + "_scale", numbers(TensorType.of(DType.FP32, n, 1), spread / 64, 0)));
            case "int4" ->
                f.blockwiseShiftScale(
                        name,
                        f.constant(name + "_data", bytes(TensorType.of(DType.INT4, n, k))),
                        f.constant(name + "_scale", numbers(TensorType.of(DType.FP32, n, k / 16), spread / 4, 0)));
            case "lut4", "lut6" -> {
                DType indices = encoding.equals("lut4") ? DType.UINT4 : DType.UINT6;
                TensorType table = TensorType.of(DType.FP32, n / 8, 1, 1 << indices.bits(), 1);
                yield f.lutToDense(
                        name,
                        f.constant(name + "_indices", bytes(TensorType.of(indices, n, k))),
                        f.constant(name + "_lut", numbers(table, 0, spread)));
            }
            case "fp16" ->
                f.constexprCast(name, f.constant(name + "_half", numbers(TensorType.of(DType.FP16, n, k), 0, spread)));
            default -> {
                byte[] data = new byte[(int) WeightType.Q8_0.bytes((long) n * k)];
                random.nextBytes(data);
                for (int block = 0; block < data.length; block += WeightType.Q8_0.blockBytes()) {
                    short scale = Float.floatToFloat16((float) spread / 64);
                    data[block] = (byte) scale;
                    data[block + 1] = (byte) (scale >> 8);
                }
                Value blocks = f.constant(
                        name + "_blocks", add(TensorType.of(DType.UINT8, data.length), MemorySegment.ofArray(data)));
                yield f.ggml(name, blocks, WeightType.Q8_0, TensorType.of(DType.FP32, n, k));
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"int8", "int4", "lut4", "lut6", "fp16", "q8_0"})
    void aStepGivesTheJvmEnginesLogits(String encoding) {
        ProgramBuilder builder = ProgramBuilder.create();
        new LlamaFunctions(
                        2,
                        32,
                        4,
                        2,
                        8,
                        64,
                        64,
                        1e-5,
                        DType.FP32,
                        (f, name, shape) -> weight(encoding, f, "w" + name, shape))
                .window(builder, "decode", ROWS, COLUMNS);
        Program program = builder.build();
        Function function = program.function("decode");
        Map<String, Tensor> inputs = new HashMap<>();
        for (Value input : function.tensors()) {
            Tensor tensor = Tensor.allocate(input.type());
            for (int i = 0; i < input.type().elements(); i++) {
                tensor.set(i, input.name().equals("step") ? 16 : (float) random.nextGaussian());
            }
            inputs.put(input.name(), tensor);
        }
        float[] expected = logits(program, "jvm", inputs);
        float most = 1;
        for (float value : expected) {
            most = Math.max(most, Math.abs(value));
        }
        assertArrayEquals(expected, logits(program, "coreai", inputs), 2e-3f * most);
    }

    private float[] logits(Program program, String engine, Map<String, Tensor> inputs) {
        return BundledProgram.run(program, blob -> blobs.get((int) blob.offset()), engine, inputs)
                .getFirst()
                .toFloats();
    }
}
