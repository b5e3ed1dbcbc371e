package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids of texts that host languages cut differently (Thai, joined emoji, NFC, NUL, pairs) are those of the Hugging Face library. */
class TokenizerGoldenTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    @ParameterizedTest
    @ValueSource(strings = {"byte level", "sentence piece"})
    void idsAndTextsAreThoseOfTheHuggingFaceLibrary(String name, @TempDir Path directory) throws IOException {
        JsonNode golden = golden(name);
        Files.writeString(directory.resolve("tokenizer.json"), MAPPER.writeValueAsString(golden.path("tokenizer")));
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            for (JsonNode example : golden.path("cases")) {
                String text = example.path("text").asText();
                int[] ids = MAPPER.convertValue(example.path("ids"), int[].class);
                assertArrayEquals(ids, tokenizer.encode(text), text);
                assertEquals(example.path("decoded").asText(), tokenizer.decode(ids), text);
                IncrementalDecoder decoder = tokenizer.incrementalDecoder();
                StringBuilder streamed = new StringBuilder();
                for (int id : ids) {
                    streamed.append(decoder.append(id));
                }
                assertEquals(tokenizer.decode(ids), streamed + decoder.finish(), text);
                assertArrayEquals(
                        tokenizer.encode("\ufffd" + text + "\ufffd"),
                        tokenizer.encode("\udc00" + text + "\ud83d"),
                        text);
            }
        }
    }

    private static JsonNode golden(String name) throws IOException {
        try (InputStream in = TokenizerGoldenTest.class.getResourceAsStream("tokenizers/tokenizers_golden.json")) {
            for (JsonNode golden : MAPPER.readTree(in)) {
                if (golden.path("name").asText().equals(name)) {
                    return golden;
                }
            }
            throw new IllegalArgumentException(name);
        }
    }
}
