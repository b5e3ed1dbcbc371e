package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.testing.GgufWriter;
import dev.torchane.testing.TinyModel;
import dev.torchane.testing.TinyTokenizer;
import dev.torchane.weights.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokenizers made from GGUF metadata. */
class GgufTokenizerTest {

    @TempDir
    Path directory;

    @Test
    void aByteLevelTokenizerIsThatOfTheHuggingFaceDirectory() throws IOException {
        Path huggingFace = Files.createDirectory(directory.resolve("hf"));
        TinyTokenizer.write(huggingFace);
        Path made = make(TinyModel.of(TinyModel.Architecture.LLAMA, 1).gguf());
        try (Tokenizer expected = Tokenizer.open(huggingFace);
                Tokenizer actual = Tokenizer.open(made)) {
            for (String text : List.of("in the world 123", "<|im_start|>user\n\u00e9<|im_end|>", "  x", "")) {
                assertArrayEquals(expected.encode(text), actual.encode(text), text);
            }
            assertEquals(expected.bos(), actual.bos());
            assertEquals(expected.ends(), actual.ends());
            assertEquals(
                    expected.chatTemplate().orElseThrow().source(),
                    actual.chatTemplate().orElseThrow().source());
        }
    }

    @Test
    void digitsAreSplitAsThePreTokenizerSays() throws IOException {
        try (Tokenizer single = Tokenizer.open(make(digits("smollm")));
                Tokenizer triple = Tokenizer.open(make(digits("llama-bpe")))) {
            assertEquals(List.of("1", "2", "3", "4"), tokens(single, single.encode("1234")));
            assertEquals(List.of("<s>", "123", "4"), tokens(triple, triple.encode("1234")));
        }
    }

    @Test
    void unknownKindsAreRefused() throws IOException {
        assertRefused(digits("something-new"), "tokenizer.ggml.pre", "something-new");
        assertRefused(
                frame().string("tokenizer.ggml.model", "bert").strings("tokenizer.ggml.tokens", List.of("a")),
                "tokenizer.ggml.model",
                "bert");
        try (Checkpoint checkpoint = Checkpoint.open(frame().write(directory.resolve("none.gguf")))) {
            assertFalse(TokenizerFiles.write(checkpoint, directory));
        }
    }

    @Test
    void everyEndThatTheMetadataNamesIsOne() throws IOException {
        GgufWriter gguf = digits("smollm").uint32("tokenizer.ggml.eos_token_id", 1);
        gguf.uint32("tokenizer.ggml.eot_token_id", 3).uint32("tokenizer.ggml.eom_token_id", 4);
        try (Tokenizer tokenizer = Tokenizer.open(make(gguf))) {
            assertEquals(Set.of(1, 3, 4), tokenizer.ends());
        }
    }

    @Test
    void aTemplateForToolsIsFoundBesideTheOther() throws IOException {
        GgufWriter gguf = digits("smollm")
                .string("tokenizer.chat_template", "plain")
                .string("tokenizer.chat_template.tool_use", "{{ tools[0].function.name }}");
        try (Tokenizer tokenizer = Tokenizer.open(make(gguf))) {
            ChatTemplate template = tokenizer.chatTemplate().orElseThrow();
            List<ChatMessage> chat = List.of(ChatMessage.user("hello"));
            assertEquals("plain", template.render(chat, true));
            assertEquals("f", template.render(chat, List.of(Tool.of("f", "")), true, Map.of()));
        }
    }

    @Test
    void aTokenizerIsCheckedBeforeABuild() throws IOException {
        try (Checkpoint checkpoint = Checkpoint.open(digits("something-new").write(directory.resolve("bad.gguf")))) {
            TorchAneException e = assertThrows(TorchAneException.class, () -> TokenizerFiles.check(checkpoint));
            assertTrue(e.getMessage().contains("something-new"), e.getMessage());
        }
        try (Checkpoint checkpoint = Checkpoint.open(digits("smollm").write(directory.resolve("good.gguf")))) {
            TokenizerFiles.check(checkpoint);
        }
    }

    @Test
    void aSentencePieceTokenizerMergesByScore() throws IOException {
        try (Tokenizer tokenizer = Tokenizer.open(make(sentencePiece(true)))) {
            assertEquals(List.of("<s>", "\u2581the", "\u2581t", "h"), tokens(tokenizer, tokenizer.encode("the th")));
            assertEquals(List.of("<s>", "\u2581", "<0xC3>", "<0xA9>"), tokens(tokenizer, tokenizer.encode("\u00e9")));
            assertEquals("the th", tokenizer.decode(tokenizer.encode("the th")));
            assertEquals("\u00e9", tokenizer.decode(tokenizer.encode("\u00e9")));
            assertEquals(Set.of(2), tokenizer.ends());
        }
        try (Tokenizer plain = Tokenizer.open(make(sentencePiece(false)))) {
            assertEquals(List.of("<s>", "t", "h", "\u2581t"), tokens(plain, plain.encode("th t")));
        }
    }

    @Test
    void streamedSentencePieceTextIsTheWholeText() throws IOException {
        for (boolean prefix : new boolean[] {true, false}) {
            try (Tokenizer tokenizer = Tokenizer.open(make(sentencePiece(prefix)))) {
                SplittableRandom random = new SplittableRandom(3);
                for (int round = 0; round < 300; round++) {
                    int[] ids = random.ints(12, 0, tokenizer.vocabularySize()).toArray();
                    if (round % 3 == 0) {
                        ids = tokenizer.encode("the \ud83d\ude00 \u00e9t");
                    }
                    IncrementalDecoder decoder = tokenizer.incrementalDecoder();
                    StringBuilder text = new StringBuilder();
                    for (int id : ids) {
                        text.append(decoder.append(id));
                    }
                    assertEquals(
                            tokenizer.decode(ids), text.append(decoder.finish()).toString());
                }
            }
        }
    }

    private static GgufWriter frame() {
        return new GgufWriter()
                .string("general.architecture", "llama")
                .uint32("llama.block_count", 0)
                .uint32("llama.context_length", 512)
                .uint32("llama.embedding_length", 64)
                .uint32("llama.feed_forward_length", 96)
                .uint32("llama.attention.head_count", 4)
                .float32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
                .uint32("llama.vocab_size", 512);
    }

    private static GgufWriter digits(String pre) {
        List<String> tokens = List.of("<s>", "1", "2", "3", "4", "12", "123", "1234");
        return frame().string("tokenizer.ggml.model", "gpt2")
                .string("tokenizer.ggml.pre", pre)
                .strings("tokenizer.ggml.tokens", tokens)
                .int32s("tokenizer.ggml.token_type", List.of(3, 1, 1, 1, 1, 1, 1, 1))
                .strings("tokenizer.ggml.merges", List.of("1 2", "12 3", "123 4"))
                .uint32("tokenizer.ggml.bos_token_id", 0);
    }

    private static GgufWriter sentencePiece(boolean prefix) {
        List<String> tokens = new ArrayList<>(List.of("<unk>", "<s>", "</s>"));
        List<Integer> types = new ArrayList<>(List.of(2, 3, 3));
        List<Float> scores = new ArrayList<>(List.of(0f, 0f, 0f));
        for (int b = 0; b < 256; b++) {
            tokens.add("<0x%02X>".formatted(b));
            types.add(6);
            scores.add(0f);
        }
        for (String piece : List.of("\u2581t", "he", "\u2581the", "\u2581", "t", "h", "e")) {
            scores.add((float) -(tokens.size() - 259));
            tokens.add(piece);
            types.add(1);
        }
        return frame().string("tokenizer.ggml.model", "llama")
                .strings("tokenizer.ggml.tokens", tokens)
                .int32s("tokenizer.ggml.token_type", types)
                .float32s("tokenizer.ggml.scores", scores)
                .uint32("tokenizer.ggml.unknown_token_id", 0)
                .uint32("tokenizer.ggml.bos_token_id", 1)
                .uint32("tokenizer.ggml.eos_token_id", 2)
                .bool("tokenizer.ggml.add_space_prefix", prefix);
    }

    private Path make(GgufWriter writer) throws IOException {
        Path target = Files.createTempDirectory(directory, "made");
        try (Checkpoint checkpoint = Checkpoint.open(writer.write(target.resolve("m.gguf")))) {
            assertTrue(TokenizerFiles.write(checkpoint, target));
        }
        return target;
    }

    private void assertRefused(GgufWriter writer, String... words) {
        TorchAneException e = assertThrows(TorchAneException.class, () -> make(writer));
        for (String word : words) {
            assertTrue(e.getMessage().contains(word), e.getMessage());
        }
    }

    private static List<String> tokens(Tokenizer tokenizer, int[] ids) {
        return Arrays.stream(ids).mapToObj(tokenizer::token).toList();
    }
}
