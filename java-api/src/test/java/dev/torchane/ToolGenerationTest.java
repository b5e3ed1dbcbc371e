package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.GenerateOptions.Thinking;
import dev.torchane.grammar.Grammar;
import dev.torchane.testing.TinyBundle;
import dev.torchane.testing.TinyTokenizer;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.OutputPart.ToolCall;
import dev.torchane.text.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Thinking and tool calls are the same in every form of a generation. A grammar of one string makes the model say it. */
class ToolGenerationTest {

    private static final Tool WEATHER = Tool.of("weather", "The weather of today.");
    private static final ToolCall CALL = new ToolCall("", "weather", "{\"city\":\"Z\u00fcrich\"}");
    private static final String CALLING =
            "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Z\u00fcrich\"}}\n</tool_call>";
    private static final List<ChatMessage> CHAT = List.of(ChatMessage.user("Weather?"));

    private static CausalLM lm;

    @BeforeAll
    static void open(@TempDir Path folder) throws IOException {
        TinyBundle.write(folder, id -> TinyTokenizer.END);
        try (InputStream template =
                ToolGenerationTest.class.getResourceAsStream("text/templates/thinking-chatml.jinja")) {
            Files.copy(template, folder.resolve("chat_template.jinja"));
        }
        lm = CausalLM.open(folder, CausalLMOptions.builder().threads(1).build());
    }

    @AfterAll
    static void close() {
        lm.close();
    }

    private static GenerateOptions saying(String text) {
        return GenerateOptions.defaults().withMaxNewTokens(300).withGrammar(Grammar.choice(List.of(text)));
    }

    private static void inEachForm(GenerateOptions options, Consumer<Generation> check) throws Exception {
        for (GenerationFormsTest.Form form : GenerationFormsTest.FORMS.values()) {
            List<Generation> ends = new ArrayList<>();
            List<Token> tokens = new ArrayList<>();
            form.generate(
                    lm, lm.encode(CHAT, options), options.withOnEnd(ends::add).withOnToken(tokens::add));
            check.accept(ends.getFirst());
            assertEquals(
                    ends.getFirst().toolCalls(),
                    tokens.stream()
                            .flatMap(token -> token.parts().stream())
                            .filter(ToolCall.class::isInstance)
                            .toList());
        }
    }

    @Test
    void a_call_is_told_from_the_text_and_the_thoughts() throws Exception {
        String output = "<think>\nhm\n</think>\n\nI look.\n" + CALLING;
        GenerateOptions options = saying(output).withTools(WEATHER).withThinking(Thinking.SEPARATED);
        inEachForm(options, end -> {
            assertEquals("hm", end.thinking());
            assertEquals("I look.", end.text());
            assertCalls(end, CALL);
        });
    }

    @Test
    void without_tools_and_separation_all_of_it_is_text() throws Exception {
        String output = "<think>\nhm\n</think>\n\n" + CALLING;
        inEachForm(saying(output), end -> {
            assertEquals(output, end.text());
            assertEquals("", end.thinking());
            assertCalls(end);
        });
    }

    @Test
    void what_a_grammar_gives_behind_an_opened_block_is_text() {
        int[] prompt = lm.tokenizer().orElseThrow().encode("1+1?<think>\n");
        GenerateOptions options = saying("{\"sum\": 2}").withThinking(Thinking.SEPARATED);
        assertEquals("{\"sum\": 2}", lm.generate(prompt, options).text());
    }

    @Test
    void thinking_that_stays_in_the_text_hides_its_calls() throws Exception {
        String output = "<think>" + CALLING + "</think>";
        inEachForm(saying(output + CALLING).withTools(WEATHER), end -> {
            assertEquals(output, end.text());
            assertCalls(end, CALL);
        });
    }

    @Test
    void a_call_that_the_limit_cuts_stays_text() throws Exception {
        inEachForm(saying(CALLING).withTools(WEATHER).withMaxNewTokens(30), end -> {
            assertTrue(end.text().startsWith("<tool_call>"), end.text());
            assertCalls(end);
        });
    }

    @Test
    void the_prompt_shows_tools_and_variables() {
        GenerateOptions options =
                GenerateOptions.defaults().withTools(WEATHER).withTemplateVariable("enable_thinking", false);
        String prompt = lm.tokenizer().orElseThrow().decode(lm.encode(CHAT, options), false);
        assertTrue(prompt.contains("The weather of today."), prompt);
        assertTrue(prompt.endsWith("<think>\n\n</think>\n\n"), prompt);
        Generation answer = lm.generate(CHAT, saying("4").withTemplateVariable("enable_thinking", false));
        assertEquals("4", answer.text());
    }

    @Test
    void a_chat_goes_on_with_the_call_and_its_result() {
        Generation asked = lm.generate(CHAT, saying("I look.\n" + CALLING).withTools(WEATHER));
        List<ChatMessage> chat = new ArrayList<>(CHAT);
        chat.add(asked.asMessage());
        asked.toolCalls()
                .forEach(call -> chat.add(ChatMessage.tool(
                        call, "7 degrees in " + call.arguments().get("city"))));
        String prompt = lm.tokenizer()
                .orElseThrow()
                .decode(lm.encode(chat, GenerateOptions.defaults().withTools(WEATHER)), false);
        assertTrue(prompt.contains("<|im_start|>assistant\nI look.\n" + CALLING + "<|im_end|>"), prompt);
        assertTrue(prompt.contains("<tool_response>\n7 degrees in Z\u00fcrich\n</tool_response>"), prompt);
    }

    @Test
    void tools_without_a_template_are_refused() {
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class,
                () -> GenerateOptions.defaults().withRaw(true).withTools(WEATHER));
        assertTrue(e.getMessage().contains("raw"), e.getMessage());
        assertThrows(
                IllegalArgumentException.class,
                () -> lm.generate(CHAT, GenerateOptions.defaults().withTemplateVariable("x", new Object())));
        assertThrows(
                IllegalArgumentException.class, () -> GenerateOptions.defaults().withTools((Tool) null));
        assertEquals(Map.of(), GenerateOptions.defaults().templateVariables());
    }

    private static void assertCalls(Generation end, ToolCall... calls) {
        assertEquals(
                List.of(calls),
                end.toolCalls().stream()
                        .map(call -> new ToolCall("", call.name(), call.argumentsJson()))
                        .toList());
    }
}
