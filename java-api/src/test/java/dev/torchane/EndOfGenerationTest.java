package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.ContextOverflowException;
import dev.torchane.llm.FinishReason;
import dev.torchane.testing.TinyBundle;
import dev.torchane.testing.TinyTokenizer;
import dev.torchane.text.ChatMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a generation ends because of what the model's files say, and prompts that the files make impossible. */
class EndOfGenerationTest {

    private static final int Z = 3 + 'z';

    @TempDir
    Path bundle;

    /** A model that says {@code ab}, then one more token, and begins anew. */
    private void write(int last) {
        TinyBundle.write(bundle, id -> id == 3 + 'a' ? 3 + 'b' : id == 3 + 'b' ? last : 3 + 'a');
    }

    private CausalLM open() {
        return CausalLM.open(bundle, CausalLMOptions.builder().threads(1).build());
    }

    private Generation generate() {
        try (CausalLM lm = open()) {
            return lm.generate(new int[] {3 + '?'}, GenerateOptions.defaults().withMaxNewTokens(20));
        }
    }

    @Test
    void an_end_that_only_the_generation_configuration_names_ends_it() throws IOException {
        write(Z);
        assertEquals(FinishReason.LENGTH, generate().reason());
        Files.writeString(bundle.resolve("generation_config.json"), "{\"eos_token_id\": [0, " + Z + "]}");
        Generation end = generate();
        assertEquals(FinishReason.STOP, end.reason());
        assertEquals("ab", end.text());
        assertEquals(3, end.ids().length);
    }

    @Test
    void the_tokenizers_own_end_stays_one_beside_others() throws IOException {
        write(TinyTokenizer.END);
        Files.writeString(bundle.resolve("generation_config.json"), "{\"eos_token_id\": 0}");
        assertEquals("ab", generate().text());
        assertEquals(FinishReason.STOP, generate().reason());
    }

    @Test
    void the_templates_end_of_turn_is_an_end_where_the_files_name_another() throws IOException {
        write(TinyTokenizer.END);
        Path config = bundle.resolve("tokenizer_config.json");
        Files.writeString(
                config,
                Files.readString(config)
                        .replace("\"eos_token\" : \"<|im_end|>\"", "\"eos_token\" : \"<|endoftext|>\""));
        assertEquals("ab", generate().text());
        assertEquals(FinishReason.STOP, generate().reason());
    }

    @Test
    void without_a_template_a_chat_is_refused_and_raw_text_is_not() throws IOException {
        write(Z);
        Files.writeString(bundle.resolve("tokenizer_config.json"), "{}");
        Path tokenizer = bundle.resolve("tokenizer.json");
        Files.writeString(tokenizer, Files.readString(tokenizer).replace("<|im_start|>", "<|begin|>"));
        try (CausalLM lm = open()) {
            TorchAneException e =
                    assertThrows(TorchAneException.class, () -> lm.generate("hey", GenerateOptions.defaults()));
            assertTrue(e.getMessage().contains("no chat template"), e.getMessage());
            assertTrue(e.getMessage().contains("withRaw(true)"), e.getMessage());
            assertThrows(
                    TorchAneException.class,
                    () -> lm.generate(List.of(ChatMessage.user("hey")), GenerateOptions.defaults()));
            assertEquals(
                    3,
                    lm.generate("hey", GenerateOptions.defaults().withRaw(true).withMaxNewTokens(3))
                            .ids()
                            .length);
        }
    }

    @Test
    void a_damaged_tokenizer_configuration_is_not_a_model_without_one() throws IOException {
        write(Z);
        Files.writeString(bundle.resolve("tokenizer_config.json"), "{\"eos_token\":");
        TorchAneException e = assertThrows(TorchAneException.class, this::open);
        assertTrue(e.getMessage().contains("tokenizer_config.json is damaged"), e.getMessage());
    }

    @Test
    void a_prompt_that_cannot_fit_is_refused_before_it_is_encoded() {
        write(Z);
        String huge = "in the world ".repeat(1 << 20);
        try (CausalLM lm = open()) {
            Assertions.assertTimeout(Duration.ofSeconds(5), () -> {
                for (boolean raw : new boolean[] {true, false}) {
                    ContextOverflowException e = assertThrows(
                            ContextOverflowException.class,
                            () -> lm.generate(huge, GenerateOptions.defaults().withRaw(raw)));
                    assertEquals(lm.maxLen(), e.limit());
                    assertTrue(e.tokens() > lm.maxLen());
                    assertTrue(e.getMessage().contains("characters has more than"), e.getMessage());
                }
            });
        }
    }
}
