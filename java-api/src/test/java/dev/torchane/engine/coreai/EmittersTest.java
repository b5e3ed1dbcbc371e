package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.OperationTable;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.BundledProgram;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operations of MIL become. */
class EmittersTest {

    private final ProgramBuilder program = ProgramBuilder.create();
    private final FunctionBuilder f = program.function("main");

    private CoreAiOptions options = CoreAiOptions.defaults();

    @TempDir
    private Path folder;

    private String text() {
        Path directory = BundledProgram.write(
                folder.resolve("b"),
                program.build(),
                blob -> MemorySegment.ofArray(new byte[(int) blob.type().bytes()]));
        try (Bundle bundle = Bundle.open(directory);
                WeightItems items = new WeightItems(bundle, folder.resolve("made.bin"))) {
            return CoreAiModel.text(bundle.program().functions(), items, options);
        }
    }

    @Test
    void everyOperationHasAFormOrAReason() {
        Set<String> known = new TreeSet<>(Emitters.all().keySet());
        known.addAll(Emitters.REFUSED.keySet());
        known.addAll(List.of("read_state", "write_state"));
        OperationTable.all().keySet().stream().filter(ConstantText::known).forEach(known::add);
        assertEquals(new TreeSet<>(OperationTable.all().keySet()), known);
    }

    @Test
    void aFunctionIsAGraphWithNamedArguments() {
        Value x = f.input("x", TensorType.of(DType.FP16, 2, 3));
        Value y = f.add("y", x, Literal.scalar(DType.FP16, 0.5));
        f.done(y);
        assertEquals("""
                module {
                  coreai.graph @main(%in_x: tensor<2x3xf16> {coreai.name = "x"}) -> (tensor<2x3xf16> {coreai.name = "y"}) {
                    %0 = coreai.constant dense<0.5> : tensor<f16>
                    %1 = "coreai.decomposable.broadcasting_add"(%in_x, %0) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>
                    coreai.output %1 : tensor<2x3xf16>
                  }
                }
                """, text());
    }

    @Test
    void axesAndPermutationsAreConstantsThatStandOnce() {
        Value x = f.input("x", TensorType.of(DType.FP32, 2, 2));
        Value turned = f.transpose("t", x, 1, 0);
        f.done(f.transpose("y", f.unary("exp", "e", turned), 1, 0));
        String text = text();
        assertTrue(text.contains("%0 = coreai.constant dense<[1, 0]> : tensor<2xui32>"), text);
        assertEquals(text.indexOf("tensor<2xui32>\n"), text.lastIndexOf("tensor<2xui32>\n"), text);
    }

    @Test
    void aStateIsReadOnceAndWrittenOnce() {
        TensorType type = TensorType.of(DType.FP16, 2, 3);
        Value state = f.state("cache", type);
        Value x = f.input("x", type);
        for (int i = 0; i < 3; i++) {
            f.writeState("", state, f.add("", f.readState("", state), x));
        }
        f.done(f.readState("y", state));
        String text = text();
        assertEquals(2, text.split("coreai.read_handle", -1).length, text);
        assertEquals(2, text.split("coreai.write_handle", -1).length, text);
        assertTrue(text.contains("%in_cache: !coreai.handle<tensor<2x3xf16>> {coreai.name = \"cache\"}"), text);
        assertTrue(text.contains("coreai.output %2, %written_cache : tensor<2x3xf16>, !coreai.token"), text);
    }

    @Test
    void weightsAreNumberedOnceForAllFunctions() {
        Literal.Blob blob = new Literal.Blob(TensorType.of(DType.FP16, 8, 4), Bundle.WEIGHTS_IN_PROGRAM, 64);
        for (FunctionBuilder each : List.of(f, program.function("other"))) {
            Value x = each.input("x", TensorType.of(DType.FP16, 1, 4));
            each.done(each.linear("y", x, each.constant("w", blob)));
        }
        String text = text();
        assertEquals(3, text.split("\\{data = 0 : i64}", -1).length, text);
        assertTrue(!text.contains("{data = 1"), text);
    }

    @Test
    void paletteAndScalesStayAsTheyAre() {
        Value indices =
                f.constant("i", new Literal.Blob(TensorType.of(DType.UINT4, 16, 8), Bundle.WEIGHTS_IN_PROGRAM, 64));
        Value lut = f.constant(
                "l",
                new Literal.Numbers(
                        TensorType.of(DType.FP16, 1, 1, 16, 1),
                        java.util.stream.IntStream.range(0, 16)
                                .mapToObj(Double::valueOf)
                                .toList()));
        f.done(f.linear("y", f.input("x", TensorType.of(DType.FP16, 1, 8)), f.lutToDense("w", indices, lut)));
        assertTrue(
                text().contains(
                                "\"coreai.lut_to_dense\"(%1, %2, %0) : (tensor<16x8xui4>, tensor<1x1x16x1xf16>, tensor<si16>)"
                                        + " -> tensor<16x8xf16>"),
                text());
    }

    @Test
    void aGroupIsAPrivateGraphAndACallOfIt() {
        TensorType type = TensorType.of(DType.FP16, 1, 2, 8);
        Value weight = f.constant("w", new Literal.Blob(TensorType.of(DType.FP16, 8), Bundle.WEIGHTS_IN_PROGRAM, 64));
        f.done(f.rmsNorm("y", f.input("x", type), weight, 1e-5));
        String text = text();
        assertTrue(
                text.contains("  coreai.graph private noinline @main_rms_norm_0(%in_x: tensor<1x2x8xf16> {coreai.name ="
                        + " \"input\"}, %in_w: tensor<8xf16> {coreai.name = \"scale\"}) -> (tensor<1x2x8xf16> {coreai.name ="
                        + " \"output\"}) attributes {__coreai_pure__, composite_decl ="
                        + " #coreai.composite_declaration<\"rms_norm\" = {input_names = [\"input\", \"scale\"], op_attrs ="
                        + " {axes = -1 : si64, eps = 9.999999747378752E-6 : f32, version = 1 : si64}, output_names ="
                        + " [\"output\"]}>, template_op = \"main_rms_norm_0\"}"),
                text);
        assertTrue(
                text.contains(
                        "\"coreai.invoke\"(%in_x, %0) <{callee = #param.constant<@main_rms_norm_0> : !param.symbol}>"
                                + " : (tensor<1x2x8xf16>, tensor<8xf16>) -> tensor<1x2x8xf16>"),
                text);
        assertTrue(text.contains("@main(%in_x: tensor<1x2x8xf16> {coreai.name = \"x\"})"), text);
    }

    /** {@code concat} of constants and the step, as the program of a language model has it. */
    private Value written() {
        TensorType cache = TensorType.of(DType.FP16, 2, 1, 1, 16, 4);
        Value state = f.state("cache", cache);
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value update = f.input("update", TensorType.of(DType.FP16, 1, 1, 1, 8, 4));
        Literal zero = Literal.int32s(0);
        Value begin = f.concat("begin", List.of(Literal.int32s(1), zero, zero, step, zero), 0);
        Value last = f.add("last", step, Literal.int32s(8));
        Value end = f.concat(
                "end", List.of(Literal.int32s(2), Literal.int32s(1), Literal.int32s(1), last, Literal.int32s(4)), 0);
        return f.sliceUpdate("new", f.readState("old", state), update, begin, end);
    }

    @Test
    void aOneHotWriteHasNoPlaceThatIsComputed() {
        f.done(written());
        options = options.withCacheWrites(CoreAiOptions.CacheWrites.ONE_HOT);
        String text = text();
        assertTrue(text.contains("broadcasting_equal"), text);
        assertTrue(text.contains("dense<[1, 0, 0, 0, 0]> : tensor<5xsi32>"), text);
        assertTrue(text.contains("dense<[2, 1, 1, 16, 4]> : tensor<5xsi32>"), text);
        assertTrue(text.contains("tensor<1x1x1x16x4xf16>) -> tensor<2x1x1x16x4xf16>"), text);
    }

    @Test
    void whatHasNoFormIsRefusedByNameAndFunction() {
        Function function = f.done(f.apply(
                "resize_nearest_neighbor",
                "big",
                Map.of(
                        "x", f.input("x", TensorType.of(DType.FP16, 1, 1, 2, 2)),
                        "target_size_height", Literal.int32(4),
                        "target_size_width", Literal.int32(4))));
        assertEquals("main", function.name());
        TorchAneException refused = assertThrows(TorchAneException.class, this::text);
        assertEquals(
                "function 'main': resize_nearest_neighbor 'big' has no form in Core AI: use upsample_nearest_neighbor",
                refused.getMessage());
    }
}
