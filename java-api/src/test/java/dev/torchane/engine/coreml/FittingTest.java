package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.program.WeightFile;
import dev.torchane.program.WeightFileWriter;
import dev.torchane.weights.WeightType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Core ML does not take becomes something that it takes, or is refused by name. */
class FittingTest {

    @TempDir
    Path folder;

    private PackageReader write(
            String name, CoreMlOptions options, BiFunction<FunctionBuilder, WeightFileWriter, Value> body) {
        return PackageReader.model(Packages.write(folder, name, options, weights -> {
            ProgramBuilder program = ProgramBuilder.create();
            FunctionBuilder f = program.function("main");
            f.done(body.apply(f, weights));
            return program.build();
        }));
    }

    private static Value interfaces(FunctionBuilder f) {
        Value choose = f.input("choose", TensorType.of(DType.BOOL, 2));
        Value scalar = f.input("scalar", TensorType.of(DType.FP16));
        Value small = f.input("small", TensorType.of(DType.INT16, 2));
        Value big = f.input("big", TensorType.of(DType.INT64, 2));
        Value wide = f.cast("wide", small, DType.INT64);
        Value moved = f.select("moved", choose, wide, big);
        Value sum = f.add("sum", f.cast("half", moved, DType.FP16), scalar);
        return f.binary("greater", "y", sum, Literal.scalar(DType.FP16, 0.5));
    }

    @Test
    void inputsAndOutputsAreArraysOfTheTypesThatCoreMlPasses() {
        PackageReader model = write("interface", CoreMlOptions.defaults(), (f, weights) -> interfaces(f));
        PackageReader description = model.child(Schema.MODEL_DESCRIPTION);
        for (PackageReader input : description.children(Schema.DESCRIPTION_INPUT)) {
            PackageReader array = input.child(Schema.FEATURE_TYPE, Schema.FEATURE_MULTI_ARRAY);
            boolean scalar = input.text(Schema.FEATURE_NAME).equals("scalar");
            assertEquals(List.of(scalar ? 1L : 2L), array.integers(Schema.ARRAY_SHAPE));
            assertEquals(scalar ? 65552 : 131104, array.integer(Schema.ARRAY_DATA_TYPE));
        }
        PackageReader y = description.child(Schema.DESCRIPTION_OUTPUT);
        assertEquals("y", y.text(Schema.FEATURE_NAME));
        assertEquals(
                131104, y.child(Schema.FEATURE_TYPE, Schema.FEATURE_MULTI_ARRAY).integer(Schema.ARRAY_DATA_TYPE));
    }

    @Test
    void defaultsAreWrittenOut() {
        PackageReader softmax = write(
                        "defaults",
                        CoreMlOptions.defaults(),
                        (f, weights) -> f.unary("softmax", "y", f.input("x", TensorType.of(DType.FP32, 2, 3))))
                .block("main", CoreMlOpset.IOS18)
                .operation("y");
        assertTrue(softmax.map(Schema.OPERATION_INPUTS).containsKey("axis"));
    }

    @Test
    void aComputedWeightIsAProduct() {
        List<String> kinds = write(
                        "product",
                        CoreMlOptions.defaults(),
                        (f, weights) -> f.linear(
                                "y",
                                f.input("x", TensorType.of(DType.FP32, 2, 3)),
                                f.input("w", TensorType.of(DType.FP32, 4, 3))))
                .block("main", CoreMlOpset.IOS18)
                .kinds();
        assertTrue(kinds.contains("matmul") && !kinds.contains("linear"), kinds.toString());
    }

    @Test
    void blocksOfAGgufBecomeHalfPrecision() {
        byte[] blocks = new byte[(int) WeightType.Q8_0.bytes(64)];
        new Random(1).nextBytes(blocks);
        for (int block = 0; block < blocks.length; block += WeightType.Q8_0.blockBytes()) {
            blocks[block] = 0;
            blocks[block + 1] = 0x2c; // the scale 1/16
        }
        write("blocks", CoreMlOptions.defaults(), (f, weights) -> {
            TensorType stored = TensorType.of(DType.UINT8, blocks.length);
            Value data = f.constant(
                    "data", BundleWriter.blob(stored, weights.append(stored, MemorySegment.ofArray(blocks))));
            Value weight = f.ggml("w", data, WeightType.Q8_0, TensorType.of(DType.FP32, 2, 32));
            return f.linear("y", f.input("x", TensorType.of(DType.FP32, 1, 32)), weight);
        });
        Tensor expected = Tensor.allocate(TensorType.of(DType.FP32, 64));
        WeightType.Q8_0.dequantize(MemorySegment.ofArray(blocks), 64, expected.data());
        try (WeightFile weights =
                WeightFile.open(folder.resolve("blocks.mlpackage/Data/com.apple.CoreML/weights/weight.bin"))) {
            assertEquals(2, weights.blobs().size(), "the weight and a bias of zeros, without the blocks");
            WeightFile.Blob half = weights.blobs().get(64L);
            assertEquals(DType.FP16, half.dtype());
            for (int i = 0; i < 64; i++) {
                float found = Float.float16ToFloat(half.data().getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i));
                assertEquals(expected.get(i), found, Math.abs(expected.get(i)) / 1024, "element " + i);
            }
        }
    }

    @Test
    void constantsOfWiderTypesAreKeptWhereTheyFit() {
        BiFunction<FunctionBuilder, Double, Value> add = (f, number) -> f.add(
                "y",
                f.input("x", TensorType.of(DType.INT64, 1)),
                f.constant("offset", new Literal.Numbers(TensorType.of(DType.INT64, 1), List.of(number))));
        write("fits", CoreMlOptions.defaults(), (f, weights) -> add.apply(f, 7.0));
        TorchAneException refused = assertThrows(
                TorchAneException.class,
                () -> write("large", CoreMlOptions.defaults(), (f, weights) -> add.apply(f, 0x1p40)));
        assertTrue(refused.getMessage().contains("'offset' of tensor<int64, [1]> becomes int32"), refused.getMessage());
    }

    @Test
    void statesOfOtherTypesAreRefusedUnlessTheCallerKeepsThem() {
        BiFunction<FunctionBuilder, WeightFileWriter, Value> counting = (f, weights) -> {
            Value state = f.state("count", TensorType.of(DType.INT32, 1));
            Value next = f.add("next", f.readState("old", state), f.input("x", TensorType.of(DType.INT32, 1)));
            f.writeState("write", state, next);
            return f.unary("identity", "y", f.readState("new", state));
        };
        TorchAneException refused =
                assertThrows(TorchAneException.class, () -> write("kept", CoreMlOptions.defaults(), counting));
        assertTrue(refused.getMessage().contains("'count' is tensor<int32, [1]>"), refused.getMessage());
        PackageReader passed =
                write("passed", CoreMlOptions.defaults().withStates(CoreMlOptions.States.VALUES), counting);
        assertEquals(
                List.of("y", "count_out"),
                passed.child(Schema.MODEL_DESCRIPTION).children(Schema.DESCRIPTION_OUTPUT).stream()
                        .map(each -> each.text(Schema.FEATURE_NAME))
                        .toList());
    }

    @Test
    @Tag("full")
    void coremltoolsReadsWhatWasFitted() throws IOException, InterruptedException {
        for (CoreMlOpset opset : CoreMlOpset.values()) {
            write("interface" + opset, CoreMlOptions.defaults().withOpset(opset), (f, weights) -> interfaces(f));
        }
        JsonNode read = CoreMlTools.read(folder);
        for (CoreMlOpset opset : CoreMlOpset.values()) {
            JsonNode model = read.get("interface" + opset);
            assertFalse(model.has("error"), opset + ": " + model);
            assertEquals(
                    "[[\"y\",\"int32\",[2]]]",
                    model.at("/functions/main/outputs").toString());
        }
    }
}
