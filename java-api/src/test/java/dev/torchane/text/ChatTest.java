package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.TorchAneException;
import dev.torchane.testing.TinyModel;
import dev.torchane.testing.TinyTokenizer;
import dev.torchane.weights.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a chat template is found, and what BOS does. */
class ChatTest {

    private static final List<ChatMessage> HELLO = List.of(ChatMessage.user("hello"));
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    Path directory;

    @BeforeEach
    void write() throws IOException {
        TinyTokenizer.write(directory);
    }

    @Test
    void chatMlPutsEveryMessageBetweenItsMarks() {
        assertEquals(
                "<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
                ChatTemplate.chatMl().render(List.of(ChatMessage.system("be kind"), ChatMessage.user("hello")), true));
    }

    @Test
    void aTemplateInASidecarIsFound() throws IOException {
        config(config -> config.remove("chat_template"));
        Files.writeString(directory.resolve("chat_template.jinja"), "side: {{ messages[0].content }}\n");
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertEquals("side: hello", tokenizer.chatTemplate().orElseThrow().render(HELLO, true));
        }
    }

    @Test
    void namedTemplatesAreFound() throws IOException {
        config(config -> {
            ArrayNode list = config.putArray("chat_template");
            list.addObject().put("name", "tool_use").put("template", "tools: {{ tools | tojson }}");
            list.addObject().put("name", "default").put("template", "default: {{ messages[0].content }}");
        });
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            ChatTemplate template = tokenizer.chatTemplate().orElseThrow();
            assertEquals("default: hello", template.render(HELLO, true));
            assertEquals(
                    "tools: [{\"name\": \"f\"}]",
                    template.render(HELLO, true, Map.of("tools", List.of(Map.of("name", "f")))));
        }
    }

    @Test
    void namedTemplatesBesideASidecarAreFoundAndTravelWithABundle() throws IOException {
        TinyModel.of(TinyModel.Architecture.LLAMA, 1).writeHuggingFace(directory);
        Files.writeString(directory.resolve("chat_template.jinja"), "side: {{ messages[0].content }}");
        Path folder = Files.createDirectory(directory.resolve("additional_chat_templates"));
        Files.writeString(folder.resolve("tool_use.jinja"), "tools: {{ tools[0].function.name }}");
        Path bundle = Files.createDirectory(directory.resolve("bundle"));
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertTrue(TokenizerFiles.write(checkpoint, bundle));
            TokenizerFiles.check(checkpoint);
            Files.writeString(directory.resolve("tokenizer_config.json"), "{");
            TorchAneException e = assertThrows(TorchAneException.class, () -> TokenizerFiles.check(checkpoint));
            assertTrue(e.getMessage().contains("tokenizer_config.json is damaged"), e.getMessage());
            Files.copy(
                    bundle.resolve("tokenizer_config.json"),
                    directory.resolve("tokenizer_config.json"),
                    StandardCopyOption.REPLACE_EXISTING);
        }
        for (Path place : List.of(directory, bundle)) {
            try (Tokenizer tokenizer = Tokenizer.open(place)) {
                ChatTemplate template = tokenizer.chatTemplate().orElseThrow();
                assertEquals("side: hello", template.render(HELLO, true));
                assertEquals("tools: f", template.render(HELLO, List.of(Tool.of("f", "")), true, Map.of()));
            }
        }
    }

    @Test
    void withoutATemplateChatMlTokensMeanChatMl() throws IOException {
        config(config -> config.remove("chat_template"));
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertTrue(tokenizer.chatTemplate().orElseThrow().isChatMlFallback());
            assertTrue(tokenizer.ends().contains(TinyTokenizer.END));
        }
        String json = Files.readString(directory.resolve("tokenizer.json"));
        Files.writeString(directory.resolve("tokenizer.json"), json.replace("<|im_start|>", "<|other|>"));
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertTrue(tokenizer.chatTemplate().isEmpty());
        }
    }

    @Test
    void bosStandsInFrontOnceWhoeverAddsIt() throws IOException {
        addsBos();
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            int[] once = tokenizer.encodeChat("in the world");
            assertEquals(TinyTokenizer.START, once[0]);
            assertArrayEquals(once, tokenizer.encodeChat("<|im_start|>in the world"));
            assertArrayEquals(once, tokenizer.encode("in the world"));
        }
    }

    @Test
    void aTokenizerThatAddsNoBosLeavesItToTheTemplate() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertEquals("in", tokenizer.token(tokenizer.encodeChat("in")[0]));
            assertEquals(TinyTokenizer.START, tokenizer.encodeChat("<|im_start|>in")[0]);
            assertEquals(2, tokenizer.encodeChat("<|im_start|>in").length);
        }
    }

    private void config(java.util.function.Consumer<ObjectNode> change) throws IOException {
        Path file = directory.resolve("tokenizer_config.json");
        ObjectNode config = (ObjectNode) MAPPER.readTree(Files.readString(file));
        change.accept(config);
        Files.writeString(file, config.toString());
    }

    private void addsBos() throws IOException {
        Path file = directory.resolve("tokenizer.json");
        ObjectNode root = (ObjectNode) MAPPER.readTree(Files.readString(file));
        root.set("post_processor", MAPPER.readTree("""
                {"type": "TemplateProcessing",
                 "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                 "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                 "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}}}
                """));
        Files.writeString(file, root.toString());
    }
}
