package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.program.WeightFile;
import dev.torchane.program.WeightFileWriter;
import dev.torchane.testing.LlamaFunctions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Language models with states and several functions as packages. */
class LanguageModelsTest {

    private static final String BUNDLE = "TORCH_ANE_COREML_BUNDLE";
    private static final int HIDDEN = 32;
    private static final int DIM = 8;
    private static final int COLUMNS = 24;
    private static final int VOCAB = 40;

    @TempDir
    Path folder;

    /** A llama of two layers; {@code encoding} of its matrices is fp32, int8 or lut4. */
    private static Program llama(String encoding, WeightFileWriter weights) {
        Map<String, Literal.Blob> stored = new HashMap<>();
        LlamaFunctions functions = new LlamaFunctions(
                2,
                HIDDEN,
                4,
                2,
                DIM,
                48,
                VOCAB,
                1e-5,
                DType.FP32,
                (f, name, shape) -> weight(encoding, stored, weights, f, name, shape));
        ProgramBuilder program = ProgramBuilder.create();
        functions.window(program, "prefill", 16, COLUMNS);
        functions.window(program, "decode", 8, COLUMNS);
        return program.build();
    }

    private static Value weight(
            String encoding,
            Map<String, Literal.Blob> stored,
            WeightFileWriter weights,
            FunctionBuilder f,
            String name,
            int... shape) {
        Random random = new Random(name.hashCode());
        if (shape.length == 1 || encoding.equals("fp32")) {
            return f.constant("w" + name, floats(stored, weights, random, name, shape));
        }
        int rows = shape[0];
        if (encoding.equals("int8")) {
            Value data = f.constant(
                    "w" + name + "_q", bytes(stored, weights, random, name, TensorType.of(DType.INT8, shape)));
            return f.blockwiseShiftScale(
                    "w" + name,
                    data,
                    f.constant("w" + name + "_s", floats(stored, weights, random, name + "s", rows, 1)));
        }
        Value indices =
                f.constant("w" + name + "_i", bytes(stored, weights, random, name, TensorType.of(DType.UINT4, shape)));
        return f.lutToDense(
                "w" + name,
                indices,
                f.constant("w" + name + "_l", floats(stored, weights, random, name + "l", rows / 8, 1, 16, 1)));
    }

    private static Literal.Blob floats(
            Map<String, Literal.Blob> stored, WeightFileWriter weights, Random random, String name, int... shape) {
        return stored.computeIfAbsent(name, each -> {
            TensorType type = TensorType.of(DType.FP32, shape);
            float[] values = new float[(int) type.elements()];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (0.2 * random.nextGaussian());
            }
            return BundleWriter.blob(type, weights.append(type, MemorySegment.ofArray(values)));
        });
    }

    private static Literal.Blob bytes(
            Map<String, Literal.Blob> stored, WeightFileWriter weights, Random random, String name, TensorType type) {
        return stored.computeIfAbsent(name, each -> {
            byte[] values = new byte[(int) type.bytes()];
            random.nextBytes(values);
            return BundleWriter.blob(type, weights.append(type, MemorySegment.ofArray(values)));
        });
    }

    @Test
    void statesAreKeptInHalfPrecisionAndNeverConvertedWhole() {
        Path written = Packages.write(folder, "llama", CoreMlOptions.defaults(), weights -> llama("fp32", weights));
        PackageReader model = PackageReader.model(written);
        PackageReader decode = model.child(Schema.MODEL_DESCRIPTION).children(Schema.DESCRIPTION_FUNCTIONS).stream()
                .filter(each -> each.text(Schema.FUNCTION_DESCRIPTION_NAME).equals("decode"))
                .findFirst()
                .orElseThrow();
        PackageReader keys = decode.children(Schema.FUNCTION_DESCRIPTION_STATE).getFirst();
        assertEquals("key_cache", keys.text(Schema.FEATURE_NAME));
        PackageReader array = keys.child(Schema.FEATURE_TYPE, Schema.FEATURE_STATE, Schema.STATE_ARRAY);
        assertEquals(65552, array.integer(Schema.ARRAY_DATA_TYPE));
        assertEquals(List.of(2L, 1L, 2L, (long) COLUMNS, (long) DIM), array.integers(Schema.ARRAY_SHAPE));
        PackageReader block = model.block("decode", CoreMlOpset.IOS18);
        for (PackageReader operation : block.children(Schema.BLOCK_OPERATIONS)) {
            boolean whole = operation.children(Schema.OPERATION_OUTPUTS).stream()
                    .anyMatch(result -> result.child(Schema.NAMED_TYPE_TYPE, Schema.TYPE_TENSOR)
                                            .integer(Schema.TENSOR_RANK)
                                    == 5
                            && result.child(Schema.NAMED_TYPE_TYPE, Schema.TYPE_TENSOR)
                                            .children(Schema.TENSOR_DIMENSIONS)
                                            .getFirst()
                                            .child(Schema.DIMENSION_CONSTANT)
                                            .integer(Schema.CONSTANT_SIZE)
                                    == 2);
            assertFalse(whole && operation.text(Schema.OPERATION_TYPE).equals("cast"));
        }
    }

    @Test
    void functionsShareTheirWeights() {
        Path written = Packages.write(folder, "llama", CoreMlOptions.defaults(), weights -> llama("int8", weights));
        PackageReader model = PackageReader.model(written);
        assertEquals("prefill", model.child(Schema.MODEL_DESCRIPTION).text(Schema.DESCRIPTION_DEFAULT_FUNCTION));
        try (WeightFile theirs = WeightFile.open(folder.resolve("llama.bundle/weights/weight.bin"));
                WeightFile weights = WeightFile.open(written.resolve("Data/com.apple.CoreML/weights/weight.bin"))) {
            long zeros = weights.blobs().values().stream()
                    .filter(blob ->
                            blob.data().asSlice(0, 4).get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0) == 0)
                    .count();
            assertTrue(zeros > 0, "biases that were left out are zeros");
            assertEquals(theirs.blobs().size(), weights.blobs().size() - zeros);
        }
    }

    @Test
    void aPackageForAnOlderSystemHoldsOneFunctionCalledMain() {
        CoreMlOptions options = CoreMlOptions.defaults().withOpset(CoreMlOpset.IOS17);
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> Packages.write(folder, "both", options, weights -> llama("fp32", weights)));
        assertTrue(refused.getMessage().contains("[prefill, decode]"), refused.getMessage());
        Path written = Packages.write(
                folder, "one", options.withFunctions(List.of("decode")), weights -> llama("fp32", weights));
        PackageReader description = PackageReader.model(written).child(Schema.MODEL_DESCRIPTION);
        List<String> outputs = description.children(Schema.DESCRIPTION_OUTPUT).stream()
                .map(each -> each.text(Schema.FEATURE_NAME))
                .toList();
        assertEquals(List.of("logits", "key_cache_out", "value_cache_out"), outputs);
        assertEquals(List.of(), description.children(Schema.DESCRIPTION_STATE));
    }

    @Test
    @Tag("full")
    void coremltoolsReadsModelsWithStatesInAllEncodings() throws IOException, InterruptedException {
        for (String encoding : List.of("fp32", "int8", "lut4")) {
            Packages.write(folder, encoding, CoreMlOptions.defaults(), weights -> llama(encoding, weights));
            Packages.write(
                    folder,
                    encoding + "_17",
                    CoreMlOptions.defaults().withOpset(CoreMlOpset.IOS17).withFunctions(List.of("decode")),
                    weights -> llama(encoding, weights));
        }
        JsonNode read = CoreMlTools.read(folder);
        for (String encoding : List.of("fp32", "int8", "lut4")) {
            JsonNode model = read.get(encoding);
            assertFalse(model.has("error"), encoding + ": " + model);
            assertFalse(read.get(encoding + "_17").has("error"), encoding + ": " + read.get(encoding + "_17"));
            String state = "\"fp16\",[2,1,2," + COLUMNS + "," + DIM + "]]";
            assertEquals(
                    "[[\"key_cache\"," + state + ",[\"value_cache\"," + state + "]",
                    model.at("/functions/prefill/states").toString());
            assertEquals(
                    "[[\"logits\",\"fp32\",[1," + VOCAB + "]]]",
                    model.at("/functions/decode/outputs").toString());
        }
    }

    @Test
    @Tag("full")
    void coremltoolsComputesTheLogitsOfAStep() throws IOException, InterruptedException {
        Path bundle = folder.resolve("llama.bundle");
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        for (CoreMlOpset opset : List.of(CoreMlOpset.IOS17, CoreMlOpset.IOS18)) {
            Program[] program = new Program[1];
            Packages.write(
                    folder,
                    opset == CoreMlOpset.IOS18 ? "llama" : "older",
                    CoreMlOptions.defaults()
                            .withOpset(opset)
                            .withStates(CoreMlOptions.States.VALUES)
                            .withFunctions(List.of("decode")),
                    weights -> program[0] = llama("fp32", weights));
            inputs.putAll(inputs(program[0].function("decode")));
        }
        CoreMlTools.inputs(folder, inputs);
        JsonNode read = CoreMlTools.read(folder);
        try (Bundle opened = Bundle.open(bundle);
                LoadedProgram loaded = Engine.named("jvm")
                        .load(opened, EngineOptions.defaults().withVector(false));
                State state = loaded.function("decode").newState()) {
            Map<String, Tensor> given = new HashMap<>(inputs);
            state.names().forEach(name -> {
                Tensor kept = state.tensor(name);
                for (int i = 0; i < kept.type().elements(); i++) {
                    kept.set(i, given.get(name).get(i));
                }
                given.remove(name);
            });
            Tensor logits = loaded.function("decode").run(given, state).get("logits");
            for (String name : List.of("llama", "older")) {
                JsonNode model = read.get(name);
                assertFalse(model.has("error"), name + ": " + model);
                compare(logits, model.at("/called/logits"));
                compare(state.tensor("key_cache"), model.at("/called/key_cache_out"));
                compare(state.tensor("value_cache"), model.at("/called/value_cache_out"));
            }
        }
    }

    @Test
    @Tag("full")
    void coremltoolsReadsABuiltModel() throws IOException, InterruptedException {
        String name = System.getenv().getOrDefault(BUNDLE, "");
        assumeTrue(!name.isEmpty(), "set " + BUNDLE + " to a bundle of a language model to run this test");
        try (Bundle opened = Bundle.open(Path.of(name))) {
            CoreMlPackage.write(opened, folder.resolve("model.mlpackage"), CoreMlOptions.defaults());
            JsonNode model = CoreMlTools.read(folder).get("model");
            assertFalse(model.has("error"), model.toString());
            for (String function : opened.functionNames()) {
                JsonNode logits = model.at("/functions/" + function + "/outputs/0");
                TensorType expected =
                        opened.function(function).outputs().getFirst().type();
                assertEquals(
                        expected.shape().toString(), logits.get(2).toString().replace(",", ", "), function);
            }
        }
    }

    /** {@code y = rms_norm(x)} of rows whose squares fp16 cannot hold. */
    private static Program norm() {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder f = program.function("main");
        Value x = f.input("x", TensorType.of(DType.FP16, 1, 3, 4));
        Value weight =
                f.constant("weight", new Literal.Numbers(TensorType.of(DType.FP16, 4), List.of(0.5, 1.0, 1.5, 2.0)));
        f.done(f.rmsNorm("y", x, weight, 1e-5));
        return program.build();
    }

    @Test
    void normsOfHalfPrecisionAreComputedInItWhereThatIsWanted() {
        Path written = Packages.write(folder, "half", CoreMlOptions.defaults().withHalfNorms(true), weights -> norm());
        PackageReader block = PackageReader.model(written).block("main", CoreMlOpset.IOS18);
        assertFalse(block.kinds().contains("cast"), block.kinds().toString());
        assertTrue(block.kinds().contains("reduce_max"), block.kinds().toString());
    }

    @Test
    @Tag("full")
    void normsOfHalfPrecisionGiveTheSame() throws IOException, InterruptedException {
        Packages.write(folder, "half", CoreMlOptions.defaults().withHalfNorms(true), weights -> norm());
        Packages.write(folder, "wide", CoreMlOptions.defaults(), weights -> norm());
        float[] x = {1, -2, 3, 0.5f, 800, -400, 100, 0.25f, 0.001f, -0.002f, 0.003f, 0};
        CoreMlTools.inputs(folder, Map.of("x", Tensor.of(TensorType.of(DType.FP16, 1, 3, 4), x)));
        JsonNode read = CoreMlTools.read(folder);
        for (String name : List.of("half", "wide")) {
            JsonNode y = read.get(name).at("/called/y");
            for (int i = 0; i < x.length; i++) {
                int row = i / 4 * 4;
                double square = 0;
                for (int k = row; k < row + 4; k++) {
                    square += x[k] * x[k] / 4;
                }
                double expected = x[i] / Math.sqrt(square + 1e-5) * (0.5 + 0.5 * (i % 4));
                assertEquals(expected, y.get(i).asDouble(), 2e-3 * Math.max(1, Math.abs(expected)), name + " " + i);
            }
        }
    }

    private static Map<String, Tensor> inputs(Function decode) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        Random random = new Random(5);
        for (Value input : decode.inputs()) {
            Tensor tensor = Tensor.allocate(input.type());
            for (int i = 0; i < input.type().elements(); i++) {
                int column = i % COLUMNS;
                tensor.set(
                        i,
                        switch (input.name()) {
                            case "step" -> 5;
                            case "pick" -> i == 2 ? 1 : 0;
                            case "mask" -> column <= 5 + i / COLUMNS ? 0 : -40000;
                            default -> (float) (0.5 * random.nextGaussian());
                        });
            }
            inputs.put(input.name(), tensor);
        }
        return inputs;
    }

    private static void compare(Tensor expected, JsonNode values) {
        assertEquals(expected.type().elements(), values.size());
        for (int i = 0; i < values.size(); i++) {
            assertEquals(
                    expected.get(i),
                    values.get(i).asDouble(),
                    2e-5 * Math.max(1, Math.abs(expected.get(i))),
                    "element " + i);
        }
    }
}
