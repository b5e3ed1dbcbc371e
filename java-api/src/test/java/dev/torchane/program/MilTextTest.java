package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MilTextTest {

    /** As Core ML lays it out, with what other producers write as well: comments, inline operands, missing blanks. */
    private static final String TEXT = """
            program(1.3)
            [buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}, {"empty", ""}})]
            {
                func main<ios18>(tensor<fp16, [1, 64]> x, state<tensor<fp16, [2, 64]>> cache) [FlexibleShapeInformation = tuple<tuple<string, int32>>((("a", {1})))] {
                        // a comment with a } in it
                        tensor<fp16, [2]> c = const()[name = string("c"), val = tensor<fp16, [2]>([0x1p+0, 0x1.8p+1])];
                        tensor<fp16, [2,2]> m = const()[name=string("m"), val=tensor<fp16, [2, 2]>([[1, -2.5], [1e-1, inf]])];
                        bool f = const()[name = string("f"), val = bool(false)];
                        int32 axis = const()[name = string("axis"), val = tensor<int32, []>(-1)];
                        tensor<bool, [2]> mask = const()[name = string("mask"), val = tensor<bool, [2]>([true, false])];
                        tensor<fp16, [128, 64]> w = const()[name = string("w"), val = tensor<fp16, [128, 64]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(4294967360)))];
                        tensor<fp16, [1, 128]> y = linear(x = x, weight = w)[name = string("y"), composite = string("g#0")];
                        tensor<fp16, [1, 64]> a, tensor<fp16, [1, 64]> b = split(x = y, num_splits = int32(2), axis = axis)[name = string("s")];
                        tensor<fp16, [2, 64]> z = concat(values = (a, b), axis = int32(0), interleave = f)[name = string("z \\"}{\\"")];
                        write_state(data = z, input = cache)[name = string("write")]; /* } */
                    } -> (z, a);
                func other<ios18>(tensor<int32, []> n) {
                    } -> (n);
            }
            """;

    @Test
    void theTextThatCoreMlWritesIsRead() {
        Program program = MilText.read(TEXT);
        assertEquals(Map.of("coremlc-version", "3505.4.1", "empty", ""), program.buildInfo());
        Function main = program.function("main");
        assertEquals("ios18", main.opset());
        assertEquals(
                new Value("cache", TensorType.of(DType.FP16, 2, 64), true),
                main.states().getFirst());
        assertEquals(List.of(1.0, 3.0), numbers(main, "c"));
        assertEquals(
                List.of(1.0, -2.5, (double) Float.float16ToFloat(Float.floatToFloat16(0.1f)), Double.POSITIVE_INFINITY),
                numbers(main, "m"));
        assertEquals(new Literal.Bool(false), literal(main, "f"));
        assertEquals(Literal.int32(-1), literal(main, "axis"));
        assertEquals(Literal.bools(true, false), literal(main, "mask"));
        assertEquals(
                new Literal.Blob(TensorType.of(DType.FP16, 128, 64), "@model_path/weights/weight.bin", 4294967360L),
                literal(main, "w"));
        Operation concat = main.operations().stream()
                .filter(o -> o.kind().equals("concat"))
                .findFirst()
                .orElseThrow();
        assertEquals(
                List.of("a", "b"),
                concat.inputs().get("values").stream().map(Value::name).toList());
        assertEquals(new Literal.Text("z \"}{\""), concat.attributes().get("name"));
        assertEquals("write_state", main.operations().getLast().kind());
        assertEquals(List.of("z", "a"), main.outputs().stream().map(Value::name).toList());
        FunctionCheck.verify("text", main);
    }

    private static Literal literal(Function function, String name) {
        return function.operations().stream()
                .filter(o -> !o.outputs().isEmpty() && o.output().name().equals(name))
                .findFirst()
                .orElseThrow()
                .constant()
                .orElseThrow();
    }

    private static List<Double> numbers(Function function, String name) {
        return ((Literal.Numbers) literal(function, name)).values();
    }

    @Test
    void writtenTextIsReadAsTheSameProgramAndWrittenTheSameAgain() {
        for (Program program : List.of(MilText.read(TEXT), SamplePrograms.languageModel(3, 16, 32))) {
            String text = MilText.write(program);
            Program again = MilText.read(text);
            assertEquals(program, again);
            assertEquals(text, MilText.write(again));
        }
    }

    @Test
    void theLayoutIsCoreMls() {
        ProgramBuilder program = ProgramBuilder.create().buildInfo("k", "v");
        FunctionBuilder f = program.function("main");
        Value x = f.input("x", TensorType.of(DType.FP16, 1, 64));
        f.done(f.mul("y", x, Literal.scalar(DType.FP16, -1.5)));
        assertEquals("""
                program(1.3)
                [buildInfo = dict<string, string>({{"k", "v"}})]
                {
                    func main<ios18>(tensor<fp16, [1, 64]> x) {
                            fp16 fp16_m1_5 = const()[name = string("fp16_m1_5"), val = fp16(-0x1.8p+0)];
                            tensor<fp16, [1, 64]> y = mul(x = x, y = fp16_m1_5)[name = string("y")];
                        } -> (y);
                }
                """, MilText.write(program.build()));
    }

    @ParameterizedTest
    @CsvSource({
        "0x1p+0, 1",
        "-0x1.8p-3, -0.1875",
        "0x0p+0, 0",
        "0X1.FP2, 7.75",
        "12, 12",
        "-3.5e2, -350",
        "1.5, 1.5",
        "0x10, 16",
        "-inf, -Infinity",
        "nan, NaN",
        "0x1.fffffep+127, 3.4028234663852886E38"
    })
    void numbersAreReadInHexadecimalAndDecimal(String text, double value) {
        String program = "program(1.3){ func f<ios18>() { fp32 c = const()[val = fp32(" + text + ")]; } -> (c); }";
        assertEquals(List.of(value), numbers(MilText.read(program).function("f"), "c"));
    }

    @Test
    void functionsAreReadWhenTheyAreAskedFor() {
        String broken = TEXT.replace("} -> (n);", "oops } -> (n);");
        MilDocument document = MilDocument.of(broken);
        assertEquals(List.of("main", "other"), document.functionNames());
        assertNotNull(document.function("main"));
        assertSame(document.function("main"), document.function("main"));
        assertThrows(MilSyntaxException.class, () -> document.function("other"));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> document.function("decode"));
        assertEquals("the program has no function 'decode'; it has [main, other]", e.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            program(1.3) | | 1:1: expected 'program', found the end of the text
            linear(x = x, weight = w) | linear(x = q, weight = w) | 12:51: expected a value that is defined before, found 'q'
            tensor<fp16, [128, 64]> w | tensor<fp99, [128, 64]> w | 11:20: expected a type, found 'fp99'
            func other | func main | 17:10: expected another name than 'main', which a function has already
            tensor<fp16, [2, 64]> z | tensor<fp16, [2, 64]> a | 14:35: expected a new name, found 'a', which is defined already
            val = bool(false) | val = bool(maybe) | expected an element of bool, found 'maybe'
            uint64(4294967360) | uint64(-1) | expected an offset of at least 0, found '-1'
            uint64(4294967360) | uint64(99999999999999999999) | expected the offset of a blob
            [0x1p+0, 0x1.8p+1] | [0x1p+0] | needs 2 numbers, found 1
            [0x1p+0, 0x1.8p+1] | [0x1p+, 1] | expected a hexadecimal number, found '0x1p+'
            [1, 64]> x | [?, 64]> x | expected a fixed shape, or one in FlexibleShapeInformation (shapes are static), found tensor<fp16, [?, 64]>
            (z, a) | (z, q) | expected results that are defined, found 'q'
            axis = int32(0) | axis = int32(0.5) | int32 cannot hold 0.5
            /* } */ | /* } | expected the end of this comment
            "3505.4.1" | 3505 | expected a string, found '3505'
            """)
    void malformedTextIsRefusedWithLineColumnExpectedAndFound(String part, String replacement, String message) {
        String text = replacement == null ? "" : TEXT.replace(part, replacement);
        MilSyntaxException e = assertThrows(MilSyntaxException.class, () -> MilText.read(text));
        assertTrue(e.getMessage().contains(message), e.getMessage());
        assertTrue(e.line() >= 1 && e.column() >= 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "linear(x = x)",
                "linear(x = x, weight = c)",
                "linear(x = x, weight = w, gain = c)",
                "conv(x = x, weight = w)",
                "frobnicate(x = x)",
                "silu(x = x)",
                "silu(x = cache)",
                "softmax(x = y, axis = x)"
            })
    void operationsThatDoNotFitAreRefusedByTheCheck(String call) {
        Program program = MilText.read(TEXT.replace("linear(x = x, weight = w)", call.replace("x = y", "x = x")));
        TorchAneException e = assertThrows(
                TorchAneException.class, () -> FunctionCheck.verify("model.mil", program.function("main")));
        assertTrue(e.getMessage().startsWith("model.mil: function 'main': "), e.getMessage());
    }

    @Test
    void mutatedTextIsReadOrRefusedButNeverFails() {
        byte[] text = MilText.write(SamplePrograms.languageModel(1, 16)).getBytes(StandardCharsets.UTF_8);
        byte[] sample = TEXT.getBytes(StandardCharsets.UTF_8);
        Random random = new Random(7);
        String alphabet = "(){}[]<>,=;\"\\/*-.0x9naz \n?@\u00ff";
        for (int i = 0; i < 2000; i++) {
            byte[] mutated = (i % 2 == 0 ? text : sample).clone();
            int changes = 1 + random.nextInt(3);
            for (int c = 0; c < changes; c++) {
                mutated[random.nextInt(mutated.length)] = (byte) alphabet.charAt(random.nextInt(alphabet.length()));
            }
            if (i % 10 == 0) {
                mutated = java.util.Arrays.copyOf(mutated, random.nextInt(mutated.length));
            }
            try {
                Program program = new MilDocument("mutant", mutated).program();
                program.functions().forEach(function -> FunctionCheck.verify("mutant", function));
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().startsWith("mutant"), expected.getMessage());
            }
        }
    }

    @Test
    void aModelOfTenFunctionsAndThirtyLayersIsReadQuickly() {
        Program program = SamplePrograms.languageModel(30, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160);
        String text = MilText.write(program);
        assertTrue(text.lines().count() > 15_000, "lines: " + text.lines().count());
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        Program read = MilText.read(text);
        long milliseconds = (threads.getCurrentThreadCpuTime() - start) / 1_000_000;
        assertEquals(program, read);
        assertTrue(milliseconds < 1_500, "took " + milliseconds + " ms of this thread");
    }
}
