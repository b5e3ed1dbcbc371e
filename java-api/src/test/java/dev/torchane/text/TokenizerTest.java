package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.testing.TinyTokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids of texts and texts of ids, with a byte-level tokenizer. */
class TokenizerTest {

    @TempDir
    Path directory;

    @BeforeEach
    void write() throws IOException {
        TinyTokenizer.write(directory);
    }

    @Test
    void textBecomesIdsAndIdsBecomeText() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            int[] ids = tokenizer.encode("in the world");
            assertEquals(List.of("in", "Ġthe", "Ġworld"), tokens(tokenizer, ids));
            assertEquals("in the world", tokenizer.decode(ids));
            assertEquals(TinyTokenizer.SIZE, tokenizer.vocabularySize());
        }
    }

    @Test
    void everyTextSurvives() {
        List<String> texts = List.of(
                "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a \u0e01\u0e47",
                "\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67 family",
                "a\u0085b\u00a0c\u2028d",
                "\u00e9 e\u0301",
                "  leading\n\n\ttabs  ",
                "\u0000 nul",
                "\ufffd\ufffe",
                "");
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            for (String text : texts) {
                assertEquals(text, tokenizer.decode(tokenizer.encode(text)));
            }
        }
    }

    @Test
    void loneSurrogatesBecomeReplacementCharacters() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertArrayEquals(tokenizer.encode("a\ufffdb"), tokenizer.encode("a\ud83db"));
            assertArrayEquals(tokenizer.encode("\ufffd\ufffd"), tokenizer.encode("\ude00\ud83d"));
            assertEquals("\ufffd \ud83d\ude00", tokenizer.decode(tokenizer.encode("\ud83d \ud83d\ude00")));
        }
    }

    @Test
    void specialTokensAreRecognisedAndLeftOut() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            int[] ids = tokenizer.encode("<|im_start|>in<|im_end|>");
            assertEquals(TinyTokenizer.START, ids[0]);
            assertEquals(TinyTokenizer.END, ids[ids.length - 1]);
            assertTrue(tokenizer.isSpecial(TinyTokenizer.END));
            assertEquals("in", tokenizer.decode(ids));
            assertEquals("<|im_start|>in<|im_end|>", tokenizer.decode(ids, false));
            assertEquals(TinyTokenizer.END, tokenizer.id("<|im_end|>").orElseThrow());
            assertTrue(tokenizer.id("absent").isEmpty());
        }
    }

    @Test
    void streamedTextIsTheWholeTextAndNeverHalfACharacter() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            SplittableRandom random = new SplittableRandom(5);
            byte[] emoji = "x\ud83d\ude00\u09cd\u09af\u00e9".getBytes(StandardCharsets.UTF_8);
            for (int round = 0; round < 300; round++) {
                int[] ids = new int[40];
                for (int i = 0; i < ids.length; i++) {
                    ids[i] = round % 2 == 0
                            ? random.nextInt(TinyTokenizer.SIZE)
                            : 3 + (emoji[(i + round) % emoji.length] & 0xFF);
                }
                for (boolean skip : new boolean[] {true, false}) {
                    IncrementalDecoder decoder = tokenizer.incrementalDecoder(skip);
                    StringBuilder text = new StringBuilder();
                    for (int id : ids) {
                        text.append(decoder.append(id));
                    }
                    text.append(decoder.finish());
                    assertEquals(tokenizer.decode(ids, skip), text.toString());
                }
            }
        }
    }

    @Test
    void halfACharacterIsHeldUntilItIsWholeOrTheStreamEnds() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            IncrementalDecoder decoder = tokenizer.incrementalDecoder();
            assertEquals("", decoder.append(byteId(0xF0)));
            assertEquals("", decoder.append(byteId(0x9F)));
            assertEquals("", decoder.append(byteId(0x98)));
            assertEquals("\ud83d\ude00", decoder.append(byteId(0x80)));
            assertEquals("\ufffd", decoder.append(byteId(0xFF)), "an invalid byte does not stall the stream");
            assertEquals("a", decoder.append(byteId('a')));
            assertEquals("", decoder.append(byteId(0xE0)));
            assertEquals("", decoder.append(byteId(0xA7)));
            assertEquals("\ufffd", decoder.finish());
            assertEquals("", decoder.finish());
        }
    }

    @Test
    void specialTokensThatAreLookedForReachTheParser() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            OutputFormat format = OutputFormat.plain().withStops(List.of("x<|im_end|>"));
            IncrementalDecoder decoder = tokenizer.incrementalDecoder(format);
            OutputParser parser = format.newParser();
            assertEquals("", decoder.append(TinyTokenizer.START));
            assertEquals(List.of(), parser.append(decoder.append(byteId('x'))));
            assertEquals(List.of(), parser.append(decoder.append(TinyTokenizer.END)));
            assertTrue(parser.stopped());
        }
    }

    @Test
    void endsAreTheUnionOfAllFiles() throws IOException {
        Files.writeString(directory.resolve("config.json"), "{\"eos_token_id\": 5}");
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\": [0, 7]}");
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertEquals(Set.of(0, TinyTokenizer.END, 5, 7), tokenizer.ends());
        }
    }

    @Test
    void theTemplatesEndOfTurnIsAnEnd() throws IOException {
        Files.writeString(
                directory.resolve("tokenizer_config.json"),
                "{\"eos_token\": \"<|endoftext|>\", \"chat_template\": \"{{ '<|im_end|>' }}\"}");
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertEquals(Set.of(TinyTokenizer.UNKNOWN, TinyTokenizer.END), tokenizer.ends());
        }
    }

    @Test
    void unusableTokenizersAreRefused() throws IOException {
        Files.writeString(directory.resolve("tokenizer.json"), "{}");
        assertMessage("tokenizer.json");
        Files.writeString(directory.resolve("tokenizer.json"), "not json");
        assertMessage("tokenizer.json");
        Files.delete(directory.resolve("tokenizer.json"));
        assertMessage("has no tokenizer.json");
        Files.writeString(directory.resolve("tokenizer.model"), "");
        assertMessage("tokenizer.model");
    }

    @Test
    void damagedFilesBesideATokenizerAreNamed() throws IOException {
        for (String file : List.of("tokenizer_config.json", "generation_config.json", "config.json")) {
            Path path = directory.resolve(file);
            String whole = Files.exists(path) ? Files.readString(path) : "{\"eos_token_id\": 2}";
            for (String damaged :
                    List.of("", " ", "[]", "null", whole.substring(0, whole.length() / 2), whole + "}", "\0\0")) {
                Files.writeString(path, damaged);
                assertMessage(file + " is damaged");
            }
            Files.write(path, new byte[] {'{', '"', (byte) 0xFF, '"', ':', '1', '}'});
            assertMessage(file);
            Files.writeString(path, whole);
        }
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\": \"</s>\"}");
        assertMessage("eos_token_id is \"</s>\"");
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\": [2, null, 7.5]}");
        assertMessage("eos_token_id is [2,null,7.5]");
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\": null}");
        Files.writeString(directory.resolve("tokenizer_config.json"), "{\"chat_template\": 7}");
        assertMessage("chat_template is NUMBER");
    }

    @Test
    void missingArgumentsAreNamed() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertMissing("text", () -> tokenizer.encode(null));
            assertMissing("text", () -> tokenizer.encode(null, true));
            assertMissing("rendered", () -> tokenizer.encodeChat(null));
            assertMissing("ids", () -> tokenizer.decode((int[]) null));
            assertMissing("ids", () -> tokenizer.decode(null, true));
            assertMissing("token", () -> tokenizer.id(null));
            assertMissing("format", () -> tokenizer.incrementalDecoder(null));
            assertMissing("directory", () -> Tokenizer.open(null));
        }
    }

    @Test
    void aTextHasNoFewerTokensThanItsLengthSays() {
        try (Tokenizer tokenizer = Tokenizer.open(directory)) {
            assertEquals(0, tokenizer.fewestTokens("<|endoftext|>".length()));
            assertEquals(1000 / 13 / 4, tokenizer.fewestTokens(1000));
            assertTrue(tokenizer.encode("<|endoftext|>".repeat(100)).length >= tokenizer.fewestTokens(1300));
        }
    }

    @Test
    void useAfterCloseIsAnError() {
        Tokenizer tokenizer = Tokenizer.open(directory);
        tokenizer.close();
        tokenizer.close();
        assertThrows(IllegalStateException.class, () -> tokenizer.encode("a"));
        assertThrows(IllegalStateException.class, () -> tokenizer.decode(1));
        assertEquals("in", tokenizer.token(263));
        assertFalse(tokenizer.isSpecial(263));
    }

    private static void assertMissing(String name, org.junit.jupiter.api.function.Executable code) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, code);
        assertEquals(name + " must not be null", e.getMessage());
    }

    private static int byteId(int value) {
        return 3 + value;
    }

    private static List<String> tokens(Tokenizer tokenizer, int[] ids) {
        return java.util.Arrays.stream(ids).mapToObj(tokenizer::token).toList();
    }

    private void assertMessage(String words) {
        TorchAneException e = assertThrows(TorchAneException.class, () -> Tokenizer.open(directory));
        assertTrue(e.getMessage().contains(words), e.getMessage());
    }
}
