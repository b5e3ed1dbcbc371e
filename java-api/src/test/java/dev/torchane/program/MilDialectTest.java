package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What other producers than this project write. */
class MilDialectTest {

    private static final String FLEXIBLE = """
            program(1.0)
            {
                func main<ios17>(tensor<int32, [1, ?]> ids, tensor<fp16, [1, ?, 4]> x) [FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, dict<string, tensor<int32, [?]>>>>>((("DefaultShapes", {{"ids", [1, 8]}, {"x", [1, 8, 4]}}), ("EnumeratedShapes", {{"79ae", {{"ids", [1, 8]}, {"x", [1, 8, 4]}}}, {"80bf", {{"ids", [1, 16]}, {"x", [1, 16, 4]}}}})))] {
                        tensor<fp16, [1, ?]> f = cast(dtype = string("fp16"), x = ids)[name = string("f")];
                        tensor<fp16, [1, ?, 1]> e = expand_dims(axes = tensor<int32, [1]>([-1]), x = f)[name = string("e")];
                        tensor<fp16, [1, ?, 4]> y = mul(x = x, y = e)[name = string("y")];
                    } -> (y);
                func ranged<ios17>(tensor<fp32, [1, 1, ?]> audio) [FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"audio", [1, 1, 160]}}), ("RangeDims", {{"audio", [[1, 1], [1, 1], [1, 2147483647]]}})))] {
                        tensor<fp32, [1, 1, ?]> y = relu(x = audio)[name = string("y")];
                    } -> (y);
            }
            """;

    @Test
    void openShapesAreTheDefaultOnesUnlessOthersAreChosen() {
        MilDocument document = MilDocument.of(FLEXIBLE);
        Function main = document.function("main");
        assertEquals(
                TensorType.of(DType.FP16, 1, 8, 4), main.outputs().getFirst().type());
        FunctionCheck.verify("text", main);
        MilSurvey survey = document.survey("main");
        assertEquals(
                List.of("79ae", "80bf"),
                List.copyOf(survey.shapes().enumerated().keySet()));
        Function longer = document.function("main", survey.shapes().enumerated().get("80bf"));
        assertEquals(
                TensorType.of(DType.FP16, 1, 16, 4), longer.outputs().getFirst().type());
        assertEquals("tensor<int32, [1, ?]> ids", survey.inputs().getFirst().toString());
    }

    @Test
    void rangesOfDimensionsAreReported() {
        MilSurvey survey = MilDocument.of(FLEXIBLE).survey("ranged");
        assertEquals("{audio=[1, 1, 1..]}", survey.shapes().ranges().toString());
        assertTrue(survey.function().isPresent());
        assertTrue(AneRules.check(survey, AneRules.Profile.DIRECT_ANE).stream()
                .anyMatch(finding -> finding.rule().id().equals("static-shapes")));
    }

    @Test
    void shapesThatDoNotFitAreRefused() {
        MilDocument document = MilDocument.of(FLEXIBLE);
        MilSyntaxException wrong =
                assertThrows(MilSyntaxException.class, () -> document.function("main", Map.of("ids", List.of(2, 8))));
        assertTrue(wrong.getMessage().contains("tensor<int32, [1, ?]> and the shape [2, 8]"), wrong.getMessage());
        MilSyntaxException apart =
                assertThrows(MilSyntaxException.class, () -> document.function("main", Map.of("ids", List.of(1, 9))));
        assertTrue(apart.getMessage().contains("mul 'y'"), apart.getMessage());
    }

    @Test
    void buffersAreTheirValuesAndCopiesBetweenBuffersAndTensorsChangeNothing() {
        Program program = MilText.read("""
                program(1.3)
                {
                    func main_ane<ios18>(tensor_buffer<fp16, shape=[1, 1, 2, 64], strides=[128, 128, 64, 1], interleave_factors=[1, 1, 1, 1]> x) {
                        tensor<fp16, [1, 1, 2, 64]> t = tensor_buffer_to_tensor<ios17>(input = x);
                        tensor<fp16, [1, 1, 2, 64]> d = add<ios16>(x = t, y = fp16(0x1p+0));
                        tensor_buffer<fp16, shape=[1, 1, 2, 64], strides=[128, 128, 64, 1], interleave_factors=[1, 1, 1, 1]> y = tensor_to_tensor_buffer<ios17>(input = d, interleave_factors = tensor<uint8, [4]>([1, 1, 1, 1]), strides = tensor<int64, [4]>([128, 128, 64, 1]));
                    } -> (y);
                }
                """);
        Function main = program.function("main_ane");
        FunctionCheck.verify("text", main);
        assertEquals(
                TensorType.of(DType.FP16, 1, 1, 2, 64), main.inputs().getFirst().type());
        assertEquals("identity", main.operations().getLast().kind());
    }

    private static final String OPAQUE = """
            program(1.3)
            {
                func main<ios18>(tensor<fp32, [1, 3]> x, pixel_buffer<pixel_format="BGRA", width=8> image, list<tensor<fp32, [?]>, 4> many, state<tensor<fp16, [2, 64]>> cache) {
                    dict<string, fp64> classes = classify(probabilities = x)[name = string("c")];
                    tuple<tensor<fp32, [1]>, list<string, ?>> pair = make_tuple(values = (x, x));
                    tensor<fp32, [1, 3]> y = while_loop(loop_vars = (x)) { (a) { b = frob(x = "}"); } -> (b) } -> (y)[name = string("w")];
                    tensor<fp32, [1, 3]> z = relu(x = x)[name = string("z"), hints = tuple<string, dict<string, int32>>(("a", {{"b", 1}}))];
                } -> (z);
            }
            """;

    @Test
    void whatCannotRunIsListedWithItsPlace() {
        MilSurvey survey = MilDocument.of(OPAQUE).survey("main");
        List<String> obstacles =
                survey.obstacles().stream().map(Throwable::getMessage).toList();
        assertEquals(5, obstacles.size(), obstacles.toString());
        assertTrue(obstacles
                .get(0)
                .startsWith("program:3:46: expected a tensor or a state to run on, found pixel_buffer<"));
        assertTrue(obstacles.get(1).endsWith("found list<tensor<fp32, [?]>, 4>"), obstacles.get(1));
        assertTrue(
                obstacles.get(2).startsWith("program:4:9: ") && obstacles.get(2).endsWith("dict<string, fp64>"));
        assertTrue(obstacles.get(3).endsWith("tuple<tensor<fp32, [1]>, list<string, ?>>"), obstacles.get(3));
        assertTrue(obstacles.get(4).contains("'while_loop' has some"), obstacles.get(4));
        assertTrue(survey.function().isEmpty());
        assertEquals(1, survey.operations().get("relu"));
        MilSyntaxException refused = assertThrows(MilSyntaxException.class, () -> MilText.read(OPAQUE));
        assertEquals(obstacles.getFirst(), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            list<tensor<fp32, [?]>, 4> | list<tensor<fp32, [?]>, many> | expected the length of a list, or ?
            dict<string, fp64> | dict<string fp64> | expected ','
            "DefaultShapes" | "DefaultShapes" 3 | expected ',' or ')'
            strides | strides=; | expected the value of a property
            """)
    void malformedTypesAndValuesAreRefusedWithWhatWasExpected(String part, String replacement, String message) {
        for (String text : List.of(OPAQUE, FLEXIBLE, OPAQUE.replace("pixel_format", "strides"))) {
            if (text.contains(part)) {
                MilDocument document = MilDocument.of(text.replace(part, replacement));
                MilSyntaxException e = assertThrows(MilSyntaxException.class, () -> document.survey("main"));
                assertTrue(e.getMessage().contains(message), e.getMessage());
                return;
            }
        }
        Assertions.fail("no text contains " + part);
    }

    @ParameterizedTest
    @ValueSource(strings = {"state<", "tuple<", "list<", "dict<string, "})
    void typesThatNestWithoutEndAreRefused(String open) {
        String text = "program(1.3){ func f<ios18>(" + open.repeat(100_000) + "fp16" + ">".repeat(100_000)
                + " x) { } -> (x); }";
        assertDeepRefused(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "[", "{", "tuple<>("})
    void valuesThatNestWithoutEndAreRefused(String open) {
        String text = "program(1.3){ func f<ios18>(fp16 x) [FlexibleShapeInformation = tuple<>(" + open.repeat(100_000)
                + "1"
                + open.replace("(", ")")
                        .replace("[", "]")
                        .replace("{", "}")
                        .replaceAll("tuple<>", "")
                        .repeat(100_000)
                + ")] { } -> (x); }";
        assertDeepRefused(text);
    }

    private static void assertDeepRefused(String text) {
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(5), () -> {
            MilDocument document = MilDocument.of(text);
            MilSyntaxException e = assertThrows(MilSyntaxException.class, () -> document.survey("f"));
            assertTrue(e.getMessage().contains("at most 32 deep"), e.getMessage());
        });
    }

    @Test
    void mutatedTextIsSurveyedOrRefusedButNeverFails() {
        Random random = new Random(11);
        String alphabet = "(){}[]<>,=;\"\\/*-.0x9naz \n?@\u00ff";
        int surveyed = 0;
        for (int i = 0; i < 4000; i++) {
            byte[] mutated = (i % 2 == 0 ? FLEXIBLE : OPAQUE).getBytes(StandardCharsets.UTF_8);
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                mutated[random.nextInt(mutated.length)] = (byte) alphabet.charAt(random.nextInt(alphabet.length()));
            }
            try {
                MilDocument document = new MilDocument("mutant", mutated);
                for (String name : document.functionNames()) {
                    MilSurvey survey = document.survey(name);
                    survey.function().ifPresent(function -> AneRules.check(function, AneRules.Profile.COREAI_ANE));
                    surveyed++;
                }
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().startsWith("mutant"), expected.getMessage());
            }
        }
        assertFalse(surveyed == 0, "no mutant was read");
    }
}
