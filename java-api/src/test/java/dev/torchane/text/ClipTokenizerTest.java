package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prompts have the ids that transformers gives them, padded and cut to one length; what was cut is told. */
class ClipTokenizerTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"sd1", "sd2"})
    void idsAreThoseOfTransformersFromVocabularyAndMerges(String name) throws IOException {
        JsonNode golden = write(name);
        try (ClipTokenizer tokenizer = ClipTokenizer.open(directory, 77)) {
            for (JsonNode example : golden.path("cases")) {
                String text = example.path("text").asText();
                ClipTokenizer.Prompt prompt = tokenizer.encode(text);
                assertArrayEquals(MAPPER.convertValue(example.path("ids"), int[].class), prompt.ids(), text);
                assertEquals(example.path("whole").asInt(), prompt.tokens(), text);
                assertEquals(example.path("cut").asText(), prompt.cut(), text);
            }
        }
    }

    @Test
    void anEmptyPromptIsItsBeginningAndItsEnd() throws IOException {
        write("sd1");
        try (ClipTokenizer tokenizer = ClipTokenizer.open(directory, 4)) {
            assertArrayEquals(
                    new int[] {529, 530, 530, 530}, tokenizer.encode("").ids());
        }
    }

    @Test
    void damagedMergesAreRefusedWithTheirLine() throws IOException {
        write("sd1");
        Files.writeString(directory.resolve("merges.txt"), "#version: 0.2\nc a\nhalf\n");
        TorchAneException refused = assertThrows(TorchAneException.class, () -> ClipTokenizer.open(directory, 77));
        assertTrue(refused.getMessage().contains("merges.txt, line 3 is 'half'"), refused.getMessage());
    }

    @Test
    void aVocabularyWithoutTheEndIsRefused() throws IOException {
        write("sd1");
        Files.writeString(directory.resolve("vocab.json"), "{\"<|startoftext|>\": 0}");
        TorchAneException refused = assertThrows(TorchAneException.class, () -> ClipTokenizer.open(directory, 77));
        assertTrue(refused.getMessage().contains("has no token <|endoftext|>"), refused.getMessage());
    }

    private JsonNode write(String name) throws IOException {
        try (InputStream in = getClass().getResourceAsStream("/dev/torchane/diffusion/clip_golden.json")) {
            for (JsonNode golden : MAPPER.readTree(in)) {
                if (golden.path("name").asText().equals(name)) {
                    for (Map.Entry<String, JsonNode> file : golden.path("files").properties()) {
                        Files.writeString(
                                directory.resolve(file.getKey()),
                                file.getValue().asText());
                    }
                    return golden;
                }
            }
        }
        throw new IllegalArgumentException(name);
    }
}
