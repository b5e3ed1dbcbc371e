package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import dev.torchane.text.OutputPart.Text;
import dev.torchane.text.OutputPart.Thinking;
import dev.torchane.text.OutputPart.ToolCall;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chats with tools, from the tool's description to the model's call and back, as transformers renders them. */
class ToolChatTest {

    private static final Tool WEATHER = new Tool("get_weather", "Weather \"now\" <b> \u00e9", """
                    {"type": "object",
                     "properties": {
                       "city": {"type": "string", "description": "the city"},
                       "days": {"type": ["integer", "null"], "default": 3, "x": 1e-7}},
                     "required": ["city"]}""");
    private static final ToolCall CALL = new ToolCall(
            "abc123def", "get_weather", "{\"city\": \"Z\u00fcrich\", \"days\": 2.5, \"more\": [true, null]}");
    private static final ToolCall SECOND = new ToolCall("abc123deg", "get_weather", "{}");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tools-chatml.jinja",
                "tools-signatures.jinja",
                "header-ids.jinja",
                "thinking-chatml.jinja",
                "instruct-brackets.jinja"
            })
    void aChatWithACallIsRenderedAsTransformersDoes(String name) throws IOException {
        List<ChatMessage> chat = List.of(
                ChatMessage.user("Weather?"),
                ChatMessage.assistant(List.of(CALL)),
                ChatMessage.tool(CALL, "{\"t\": 7}"),
                ChatMessage.assistant("7 degrees"),
                ChatMessage.user("thanks"));
        assertEquals(
                golden(name, "call, tools, with prompt"),
                template(name).render(chat, List.of(WEATHER), true, Map.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tools-chatml.jinja", "tools-signatures.jinja", "thinking-chatml.jinja"})
    void severalCallsOfOneTurnKeepTheirThoughtsAndResults(String name) throws IOException {
        List<ChatMessage> chat = List.of(
                ChatMessage.system("Be kind."),
                ChatMessage.user("Weather?"),
                ChatMessage.assistant(List.of(new Thinking("Two cities."), new Text("I look."), CALL, SECOND)),
                ChatMessage.tool(CALL, "warm"),
                ChatMessage.tool(SECOND, "cold"));
        assertEquals(
                golden(name, "two calls, tools, with prompt"),
                template(name).render(chat, List.of(WEATHER), true, Map.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "tools-chatml.jinja, HERMES",
        "tools-signatures.jinja, HERMES",
        "thinking-chatml.jinja, HERMES",
        "header-ids.jinja, LLAMA3",
        "instruct-brackets.jinja, MISTRAL"
    })
    void theTemplateSaysHowCallsAreWritten(String name, ToolCallFormat format) throws IOException {
        ChatTemplate template = template(name);
        assertTrue(template.showsTools());
        assertEquals(Optional.of(format), template.outputFormat("", true).toolCalls());
        assertEquals(Optional.empty(), template.outputFormat("", false).toolCalls());
    }

    @Test
    void formatsThatAreNotReadAreNotMistakenForOthers() {
        assertEquals(Optional.empty(), ToolCallFormat.of("{{ tools }}<tool_call><function=name>"));
        assertEquals(Optional.empty(), ToolCallFormat.of("{{ tools }}<tool_call>name<arg_key>"));
        assertEquals(Optional.empty(), ToolCallFormat.of("{{ messages }}"));
        assertEquals(Optional.empty(), ToolCallFormat.of("{{ tools }}:<tool_call>"));
        assertEquals(Optional.of(ToolCallFormat.HERMES), ToolCallFormat.of("{{ tools }}'<tool_call>{\"name\":'"));
        assertEquals(Optional.of(ToolCallFormat.HERMES), ToolCallFormat.of("{{ tools }}\"<tool_call>{\\\"name\\\":\""));
        assertEquals(Optional.of(ToolCallFormat.LLAMA3), ToolCallFormat.of("{{ tools }}<|python_tag|>"));
    }

    @Test
    void thePromptSaysWhereTheAnswerBegins() throws IOException {
        ChatTemplate template = template("thinking-chatml.jinja");
        List<ChatMessage> chat = List.of(ChatMessage.user("1+1?"));
        String thinks = template.render(chat, true);
        assertEquals(
                List.of(new Thinking("hm"), new Text("2")),
                template.outputFormat(thinks, false).parse("<think>\nhm\n</think>\n\n2"));
        String quick = template.render(chat, true, Map.of("enable_thinking", false));
        assertTrue(quick.endsWith("</think>\n\n"), quick);
        assertEquals(List.of(new Text("2")), template.outputFormat(quick, false).parse("2"));
        assertEquals(
                List.of(new Thinking("hm"), new Text("2")),
                template.outputFormat(thinks + "<think>\n", false).parse("hm\n</think>\n\n2"));
    }

    @Test
    void whatTheModelWroteIsRenderedAsItWroteIt() throws IOException {
        ChatTemplate template = template("tools-chatml.jinja");
        List<ChatMessage> chat = new java.util.ArrayList<>(List.of(ChatMessage.user("Weather?")));
        String prompt = template.render(chat, List.of(WEATHER), true, Map.of());
        String answer =
                "I look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bern\", \"days\": 2, \"id\": 12345678901234567890}}\n</tool_call>";
        chat.add(ChatMessage.assistant(template.outputFormat(prompt, true).parse(answer)));
        assertEquals(prompt + answer + "<|im_end|>\n", template.render(chat, List.of(WEATHER), false, Map.of()));
    }

    @Test
    void aTemplateThatShowsNoToolsRefusesThem() throws IOException {
        List<ChatMessage> chat = List.of(ChatMessage.user("Weather?"));
        ChatTemplate template = template("turns.jinja");
        assertFalse(template.showsTools());
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> template.render(chat, List.of(WEATHER), true, Map.of()));
        assertTrue(e.getMessage().contains("shows no tools"), e.getMessage());
        assertEquals(template.render(chat, true), template.render(chat, List.of(), true, Map.of()));
    }

    @Test
    void toolsAreCheckedWhenTheyAreMade() {
        assertRefused("found 'get weather'", () -> Tool.of("get weather", ""));
        assertRefused("schema of the parameters of 'f' is not JSON", () -> new Tool("f", "", "{"));
        assertRefused("schema of the parameters of 'f' must be a JSON object", () -> new Tool("f", "", "[]"));
        assertRefused("description must not be null", () -> Tool.of("f", null));
        assertRefused("parameters must not be null", () -> Tool.of("f", "", null));
        assertRefused("content must not be null", () -> ChatMessage.user(null));
        assertRefused("argumentsJson is not JSON", () -> new ToolCall("1", "f", "{").arguments());
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("type", "object");
        parameters.put("properties", Map.of("n", Map.of("minimum", 1.5)));
        assertEquals(parameters, Tool.of("f", "", parameters).parameters());
        assertEquals(
                List.of("type", "properties"),
                List.copyOf(Tool.of("f", "").parameters().keySet()));
    }

    private static ChatTemplate template(String name) throws IOException {
        return new ChatTemplate(
                Map.of(ChatTemplate.DEFAULT, resource(name)),
                Map.of("bos_token", "<s>", "eos_token", "</s>"),
                () -> LocalDateTime.of(2026, 7, 4, 9, 5, 3),
                false);
    }

    private static String golden(String template, String name) throws IOException {
        return StreamSupport.stream(
                        new ObjectMapper()
                                .readTree(resource("templates_golden.json"))
                                .spliterator(),
                        false)
                .filter(golden -> golden.path("template").asText().equals(template)
                        && golden.path("case").asText().equals(name)
                        && golden.has("expected"))
                .map((JsonNode golden) -> golden.path("expected").asText())
                .findFirst()
                .orElseThrow();
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ToolChatTest.class.getResourceAsStream("templates/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void assertRefused(String message, org.junit.jupiter.api.function.Executable code) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, code);
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}
