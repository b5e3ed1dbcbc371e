package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CompileOptions;
import dev.torchane.CompiledModule;
import dev.torchane.Embedding;
import dev.torchane.TextEmbedding;
import dev.torchane.TorchAneException;
import dev.torchane.engine.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A causal model whose last token stands for the text, as Qwen3-Embedding is used. */
class CausalEmbeddingTest {

    /** Words, and a token at the end of each text. */
    private static final String TOKENIZER = """
            {
              "version": "1.0",
              "added_tokens": [{"id": 2, "content": "<end>", "special": true, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false}],
              "pre_tokenizer": {"type": "Whitespace"},
              "post_processor": {"type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<end>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"<end>": {"id": "<end>", "ids": [2], "tokens": ["<end>"]}}},
              "model": {"type": "WordLevel", "unk_token": "?",
                "vocab": {"?": 0, "the": 1, "<end>": 2, "world": 3, "is": 4, "round": 5, "Query": 6, ":": 7}}
            }
            """;

    @TempDir
    Path folder;

    @Test
    void the_last_token_counts_and_what_pads_a_text_does_not() throws IOException {
        Path tiny = TinyModel.QWEN3.write(folder.resolve("tiny"), 3);
        CompileOptions options =
                CompileOptions.builder().cache(folder.resolve("cache")).build();
        assertTrue(assertThrows(TorchAneException.class, () -> TextEmbedding.fromPretrained(tiny, options))
                .getMessage()
                .contains("tokenizer.json"));
        Files.writeString(tiny.resolve("tokenizer.json"), TOKENIZER);
        Files.writeString(tiny.resolve("config_sentence_transformers.json"), """
                {"prompts": {"query": "Query: "}}""");
        try (TextEmbedding model = TextEmbedding.fromPretrained(tiny, options)) {
            assertEquals(32, model.dimensions());
            Embedding text = model.embed("the world is round");
            assertEquals(5, text.tokens());
            assertArrayEquals(
                    model.embed("Query: the").vector(),
                    model.embed("the", "query").vector());
            assertArrayEquals(last(model, 1, 3, 4, 5, 2), text.vector(), 1e-6f);
            Embedding cut = model.embed("the world ".repeat(200));
            assertEquals(256, cut.tokens());
            assertEquals(145, cut.cut());
        }
    }

    /** What the program itself says behind the last of some ids, in its longest function, with another padding. */
    private static float[] last(TextEmbedding model, int... ids) {
        try (CompiledModule module =
                CompiledModule.open(model.bundle().resolve("program"), CompileOptions.defaults())) {
            Tensor tokens = Tensor.allocate(module.shapes().getLast().get("input_ids"));
            Tensor mask = Tensor.allocate(tokens.type());
            for (int i = 0; i < tokens.type().elements(); i++) {
                tokens.set(i, i < ids.length ? ids[i] : 77);
                mask.set(i, i < ids.length ? 1 : 0);
            }
            Tensor states = module.run(Map.of("input_ids", tokens, "attention_mask", mask))
                    .get("last_hidden_state");
            float[] vector = states.toFloats((ids.length - 1) * 32L, 32);
            double square = 0;
            for (float value : vector) {
                square += value * value;
            }
            float[] normalized = Arrays.copyOf(vector, vector.length);
            for (int i = 0; i < vector.length; i++) {
                normalized[i] = (float) (vector[i] / Math.sqrt(square));
            }
            return normalized;
        }
    }
}
