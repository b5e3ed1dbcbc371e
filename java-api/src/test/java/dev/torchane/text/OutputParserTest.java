package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.text.OutputPart.Text;
import dev.torchane.text.OutputPart.Thinking;
import dev.torchane.text.OutputPart.ToolCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What is text, thinking and a call in the text that a model writes, however it is cut into pieces. */
class OutputParserTest {

    private static final ThinkingBlock THINK = ThinkingBlock.of("<think>", "</think>");

    @Nested
    class StopStrings {

        @Test
        void endTheOutputAndAreNoPartOfIt() {
            assertParts(stops("END"), "one END two END", text("one "));
            assertParts(stops("END"), "one EN", text("one EN"));
            assertParts(stops("END"), "END");
            assertParts(stops("END", "\n\n"), "a\nb\n\nc", text("a\nb"));
        }

        @Test
        void mayLieAcrossAnyNumberOfPieces() {
            OutputParser parser = stops("<|stop|>").newParser();
            assertEquals(List.of(text("a")), parser.append("a<|"));
            assertEquals(List.of(), parser.append("st"));
            assertEquals(List.of(), parser.append("op"));
            assertEquals(List.of(), parser.append("|"));
            assertFalse(parser.stopped());
            assertEquals(List.of(), parser.append(">b"));
            assertTrue(parser.stopped());
            assertEquals(List.of(), parser.append("c"));
            assertEquals(List.of(), parser.finish());
        }

        @Test
        void whatOnlyLookedLikeOneIsGivenBackAtOnceOrAtTheEnd() {
            OutputParser parser = stops("aab").newParser();
            assertEquals(List.of(), parser.append("aa"));
            assertEquals(List.of(text("a")), parser.append("a"));
            assertEquals(List.of(text("aac")), parser.append("c"));
            assertEquals(List.of(), parser.append("aa"));
            assertEquals(List.of(text("aa")), parser.finish());
            assertEquals(List.of(), parser.finish());
            assertThrows(IllegalStateException.class, () -> parser.append("x"));
        }

        @Test
        void ofSeveralTheOneThatIsCompleteFirstCounts() {
            assertParts(stops("STOPPED", "STOP"), "x STOPPED", text("x "));
            assertParts(stops("bcd", "xabcde", "abcd"), "xabcde", text("x"));
            assertParts(stops("ab", "b"), "aab", text("a"));
        }

        @Test
        void applyToThinkingAndCallsToo() {
            assertParts(stops("STOP").withThinking(THINK), "<think>a STOP b</think>c", thinking("a "));
            assertParts(
                    stops("STOP").withToolCalls(ToolCallFormat.HERMES),
                    "<tool_call>{\"name\": \"STOP",
                    text("<tool_call>{\"name\": \""));
        }

        @Test
        void thatCannotMeanAnythingAreRefused() {
            assertRefused("stop string 1 is empty", () -> stops("a", ""));
            assertRefused("stop string 0 has half a surrogate pair", () -> stops("\ud83d"));
            assertRefused(
                    "stop string 0 must not be null",
                    () -> OutputFormat.plain().withStops(java.util.Arrays.asList((String) null)));
            assertRefused("stops must not be null", () -> OutputFormat.plain().withStops(null));
            assertRefused(
                    "piece must not be null",
                    () -> OutputFormat.plain().newParser().append(null));
        }
    }

    @Nested
    class ThinkingBlocks {

        @Test
        void areDividedFromTheAnswer() {
            OutputFormat format = OutputFormat.plain().withThinking(THINK);
            assertParts(format, "<think>\nhm, 2\n</think>\n\n4", thinking("hm, 2"), text("4"));
            assertParts(format, "\n<think>\n\n</think>\n\n4", text("4"));
            assertParts(format, "no thoughts", text("no thoughts"));
        }

        @Test
        void mayHaveBeenOpenedByThePrompt() {
            OutputFormat open = OutputFormat.plain().withThinking(THINK.behind("<|im_start|>assistant\n<think>\n"));
            assertParts(open, "hm\n</think>\n\n4", thinking("hm"), text("4"));
            OutputFormat closed = OutputFormat.plain().withThinking(THINK.behind("assistant\n<think>\n\n</think>\n\n"));
            assertParts(closed, "4", text("4"));
        }

        @Test
        void stayTextWhenNotSeparatedAndHideCallsAllTheSame() {
            String thought =
                    "<think>\nI could <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n</think>\n\n";
            OutputFormat format = OutputFormat.plain()
                    .withThinking(THINK.withSeparated(false))
                    .withToolCalls(ToolCallFormat.HERMES);
            assertParts(format, thought + "No.", text(thought + "No."));
        }

        @Test
        void endWithTheOutput() {
            OutputFormat format = OutputFormat.plain().withThinking(THINK);
            assertParts(format, "<think>\nhm \n </thi", thinking("hm \n </thi"));
            assertParts(format, "<think>\nhm \n", thinking("hm \n"));
            assertParts(format, "  <thi", text("  <thi"));
        }

        @Test
        void standOnlyAtTheBeginning() {
            OutputFormat format = OutputFormat.plain().withThinking(THINK);
            assertParts(format, "The mark <think> opens </think>.", text("The mark <think> opens </think>."));
            assertParts(format, "<think>a</think>b<think>c</think>", thinking("a"), text("b<think>c</think>"));
        }
    }

    @Nested
    class HermesCalls {

        private final OutputFormat format = OutputFormat.plain().withToolCalls(ToolCallFormat.HERMES);

        @Test
        void standBetweenMarks() {
            assertParts(
                    format,
                    "Let me see.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Z\u00fcrich\"}}\n</tool_call>",
                    text("Let me see."),
                    call("weather", "{\"city\":\"Z\u00fcrich\"}"));
        }

        @Test
        void mayFollowEachOther() {
            assertParts(
                    format,
                    "<tool_call>[{\"name\": \"a\"}, {\"name\": \"b\"}]</tool_call>",
                    call("a", "{}"),
                    call("b", "{}"));
            assertParts(
                    format,
                    "<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>\n<tool_call>\n{\"name\":\"b\"}\n</tool_call> and",
                    call("a", "{}"),
                    call("b", "{}"),
                    text("and"));
        }

        @Test
        void mayHoldTheirOwnMarksAndRawLineBreaksInStrings() {
            assertParts(
                    format,
                    "<tool_call>{\"name\":\"a\",\"arguments\":{\"x\":\"</tool_call>\\\"{\n\"}}</tool_call>",
                    call("a", "{\"x\":\"</tool_call>\\\"{\\n\"}"));
        }

        @Test
        void mayLackTheirClosingMarkOrHaveArgumentsInAString() {
            assertParts(
                    format,
                    "<tool_call>{\"name\":\"a\",\"arguments\":\"{\\\"x\\\": 1}\"}<tool_call>{\"name\":\"b\"}",
                    call("a", "{\"x\":1}"),
                    call("b", "{}"));
        }

        @Test
        void areGivenAsSoonAsTheyAreComplete() {
            OutputParser parser = format.newParser();
            assertEquals(List.of(text("a")), parser.append("a <tool_call>{\"name\":\"f\",\"arguments\":{\"x\":[1"));
            List<OutputPart> parts = parser.append("]}}</tool");
            assertEquals(1, parts.size());
            assertEquals(Map.of("x", List.of(1L)), ((ToolCall) parts.getFirst()).arguments());
        }

        @Test
        void thatCannotBeReadStayText() {
            for (String broken : List.of(
                    "<tool_call>weather(\"x\")</tool_call>",
                    "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}</tool_call>",
                    "<tool_call>{\"name\": 3, \"arguments\": {}}</tool_call>",
                    "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
                    "<tool_call>{\"name\": \"f\", \"arguments\": \"no\"}</tool_call>",
                    "<tool_call>{'name': 'f'}</tool_call>",
                    "<tool_call>{\"name\": \"f\", \"name\": \"g\"}</tool_call>",
                    "<tool_call>{\"name\": \"f\", \"arguments\": " + "[".repeat(5000) + "]".repeat(5000) + "}",
                    "<tool_call>{}</tool_call>",
                    "<tool_call></tool_call>",
                    "<tool_call>",
                    "<tool_call>{\"name\": \"f",
                    "</tool_call>")) {
                assertParts(format, broken, text(broken));
                assertParts(format, broken + " <tool_call>{\"name\":\"g\"}</tool_call>", text(broken), call("g", "{}"));
            }
        }

        @Test
        void keepTheirNumbers() {
            ToolCall call = call("f", "{\"a\":12345678901234567890,\"b\":1.50,\"c\":1E+2,\"d\":null,\"e\":7}");
            assertParts(
                    format,
                    "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":12345678901234567890,\"b\":1.50,\"c\":1e2,\"d\":null,\"e\":7}}",
                    call);
            assertEquals(1.5, call.arguments().get("b"));
            assertEquals(7L, call.arguments().get("e"));
            assertEquals(
                    new java.math.BigInteger("12345678901234567890"),
                    call.arguments().get("a"));
            assertEquals(
                    Double.POSITIVE_INFINITY,
                    call("f", "{\"x\": 1e999999999}").arguments().get("x"));
            assertTrue(call.arguments().containsKey("d"));
        }

        @Test
        void takeNoMoreTimeThanTheirLength() {
            Assertions.assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
                String large = "x".repeat(1 << 20);
                assertParts(
                        format,
                        "<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"" + large + "\"}}</tool_call>",
                        call("f", "{\"x\":\"" + large + "\"}"));
                String endless = "<tool_call>{\"a\":\"" + "x".repeat(ToolCallScanner.LONGEST_CALL) + "y";
                assertEquals(List.of(text(endless)), format.parse(endless));
                String attack = "<tool_call>{\"".repeat(200_000);
                assertEquals(List.of(text(attack)), format.parse(attack));
                String spaces = "<tool_call>{\"name\":\"a\"}</tool_call>" + " \n".repeat(200_000);
                assertParts(format, spaces, call("a", "{}"));
            });
        }
    }

    @Nested
    class Llama3Calls {

        private final OutputFormat format = OutputFormat.plain().withToolCalls(ToolCallFormat.LLAMA3);

        @Test
        void areTheWholeOutputOrStandBehindTheMark() {
            String json = "{\"name\": \"weather\", \"parameters\": {\"city\": \"Bern\"}}";
            ToolCall weather = call("weather", "{\"city\":\"Bern\"}");
            assertParts(format, json, weather);
            assertParts(format, "\n\n" + json + "\n", weather);
            assertParts(format, "<|python_tag|>" + json, weather);
            assertParts(format, "I will call.\n<|python_tag|>" + json, text("I will call."), weather);
            assertParts(format, json + "; " + json, weather, weather);
            assertParts(format, json + " That is it.", weather, text("That is it."));
        }

        @Test
        void areNotFoundInTheMiddleOfText() {
            String text = "Like {\"name\": \"weather\", \"parameters\": {}}";
            assertParts(format, text, text(text));
        }

        @Test
        void otherJsonStaysText() {
            for (String other : List.of(
                    "{\"answer\": 42}",
                    "{\"name\": \"Bob\"}",
                    "{\"name\": \"f\", \"parameters\": {}",
                    "{ not json",
                    "<|python_tag|>search.call(query=\"x\")")) {
                assertParts(format, other, text(other));
            }
            assertParts(
                    format, "{\"name\": \"f\", \"parameters\": {}}; {\"a\": 1}", call("f", "{}"), text("; {\"a\": 1}"));
        }
    }

    @Nested
    class MistralCalls {

        private final OutputFormat format = OutputFormat.plain().withToolCalls(ToolCallFormat.MISTRAL);

        @Test
        void areAnArrayBehindTheMark() {
            assertParts(
                    format,
                    "[TOOL_CALLS] [{\"name\": \"a\", \"arguments\": {\"x\": 1}, \"id\": \"abc123def\"}, {\"name\": \"b\", \"arguments\": {}}]",
                    new ToolCall("abc123def", "a", "{\"x\":1}"),
                    call("b", "{}"));
        }

        @Test
        void areNamesWithArguments() {
            assertParts(
                    format,
                    "Wait. [TOOL_CALLS]a[ARGS]{\"x\": 1}[TOOL_CALLS]b[CALL_ID]abc123def[ARGS]{}",
                    text("Wait."),
                    call("a", "{\"x\":1}"),
                    new ToolCall("abc123def", "b", "{}"));
        }

        @Test
        void thatCannotBeReadStayText() {
            for (String broken : List.of(
                    "[TOOL_CALLS][{\"name\": \"a\"}, 3]",
                    "[TOOL_CALLS]two words[ARGS]{}",
                    "[TOOL_CALLS][]",
                    "[TOOL_CALLS]" + "x".repeat(300) + "{}")) {
                assertParts(format, broken, text(broken));
            }
        }
    }

    @Test
    void callsAreNamedTheSameWheneverTheSameTextIsParsed() {
        OutputFormat format = OutputFormat.plain().withToolCalls(ToolCallFormat.HERMES);
        String twice = "<tool_call>{\"name\":\"a\"}</tool_call>".repeat(2);
        List<String> ids =
                format.parse(twice).stream().map(part -> ((ToolCall) part).id()).toList();
        assertEquals(2, ids.stream().distinct().count());
        assertTrue(ids.stream().allMatch(id -> id.matches("[a-z0-9]{9}")), ids.toString());
        assertEquals(format.parse(twice), format.parse(twice));
    }

    @Test
    void piecesChangeNothing() {
        List<String> fragments = List.of(
                "<think>",
                "</think>",
                "<tool_call>",
                "</tool_call>",
                "{\"name\": \"f\", \"arguments\": {\"x\": \"\ud83d\ude00\"}}",
                "{\"name\":\"g\",\"parameters\":{}}",
                "<|python_tag|>",
                ";",
                "[TOOL_CALLS]",
                "[ARGS]",
                "f",
                "{",
                "}",
                "\"",
                "\\",
                "[",
                "]",
                " ",
                "\n",
                "ST",
                "OP",
                "STOP",
                "a",
                "\ud83d\ude01",
                "<",
                "t",
                "</tool",
                "\u0e2a\u0e27",
                ",");
        List<OutputFormat> formats = new ArrayList<>();
        for (ToolCallFormat calls : ToolCallFormat.values()) {
            for (boolean open : new boolean[] {true, false}) {
                for (boolean separated : new boolean[] {true, false}) {
                    formats.add(new OutputFormat(
                            open ? List.of("STOPO", "TOP", "\ud83d\ude01\n", "\"}{") : List.of(),
                            java.util.Optional.of(new ThinkingBlock("<think>", "</think>", open, separated)),
                            java.util.Optional.of(calls)));
                }
            }
        }
        SplittableRandom random = new SplittableRandom(11);
        for (int round = 0; round < 20_000; round++) {
            StringBuilder output = new StringBuilder();
            for (int i = random.nextInt(14); i >= 0; i--) {
                output.append(fragments.get(random.nextInt(fragments.size())));
            }
            OutputFormat format = formats.get(round % formats.size());
            String whole = output.toString();
            List<OutputPart> expected = format.parse(whole);
            assertEquals(expected, inPieces(format, whole, random), whole);
            if (format.stops().isEmpty()) {
                assertTrue(
                        expected.stream().noneMatch(part -> part instanceof Text(String text) && text.isEmpty()),
                        whole);
            }
        }
    }

    /** Cuts at any {@code char}, between the halves of a pair too; no part may end in half a character. */
    private static List<OutputPart> inPieces(OutputFormat format, String whole, SplittableRandom random) {
        OutputParser parser = format.newParser();
        List<OutputPart> parts = new ArrayList<>();
        int at = 0;
        while (at < whole.length()) {
            int end = Math.min(whole.length(), at + random.nextInt(1 + random.nextInt(12)));
            parts.addAll(parser.append(whole.substring(at, end)));
            at = end;
        }
        parts.addAll(parser.finish());
        for (OutputPart part : parts) {
            if (part instanceof Text(String text)) {
                assertEquals(text, Tokenizer.withoutLoneSurrogates(text));
            }
        }
        return OutputFormat.joined(parts);
    }

    private static OutputFormat stops(String... strings) {
        return OutputFormat.plain().withStops(List.of(strings));
    }

    private static Text text(String text) {
        return new Text(text);
    }

    private static Thinking thinking(String text) {
        return new Thinking(text);
    }

    private static ToolCall call(String name, String arguments) {
        return new ToolCall("", name, arguments);
    }

    /** Compares the parts; where the expected call has no id, any will do. */
    private static void assertParts(OutputFormat format, String output, OutputPart... expected) {
        List<OutputPart> parts = format.parse(output);
        SplittableRandom random = new SplittableRandom(output.length());
        assertEquals(parts, inPieces(format, output, random), output);
        List<OutputPart> comparable = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            boolean anyId = i < expected.length
                    && expected[i] instanceof ToolCall call
                    && call.id().isEmpty();
            comparable.add(
                    anyId && parts.get(i) instanceof ToolCall call
                            ? call(call.name(), call.argumentsJson())
                            : parts.get(i));
        }
        assertEquals(List.of(expected), comparable, output);
    }

    private static void assertRefused(String message, org.junit.jupiter.api.function.Executable code) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, code);
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}
