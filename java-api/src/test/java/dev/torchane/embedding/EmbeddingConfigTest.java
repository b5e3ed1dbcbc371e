package dev.torchane.embedding;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a model's files say about its embeddings. */
class EmbeddingConfigTest {

    @TempDir
    Path model;

    private void write(String name, String text) throws IOException {
        Path file = model.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private EmbeddingConfig bert() throws IOException {
        write("config.json", """
                {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 512, "pad_token_id": 0}""");
        return EmbeddingConfig.read(model);
    }

    @Test
    void aModelWithoutSentenceFilesIsTheNormalisedMeanOfItsTokens() throws IOException {
        EmbeddingConfig config = bert();
        assertEquals(List.of(Pooling.MEAN), config.poolings());
        assertTrue(config.normalized());
        assertEquals(512, config.maxTokens());
        assertEquals(Optional.empty(), config.defaultPrompt());
    }

    @Test
    void modulesSayHowTokensArePooledAndWhetherLengthsAreOne() throws IOException {
        write("modules.json", """
                [{"path": "", "type": "sentence_transformers.models.Transformer"},
                 {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]""");
        write("1_Pooling/config.json", """
                {"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false}""");
        write("sentence_bert_config.json", """
                {"max_seq_length": 256, "do_lower_case": true}""");
        EmbeddingConfig config = bert();
        assertEquals(List.of(Pooling.CLS, Pooling.MEAN), config.poolings());
        assertFalse(config.normalized());
        assertTrue(config.lowerCase());
        assertEquals(256, config.maxTokens());
        assertEquals(config, EmbeddingConfig.of(config.toJson(), model), "a bundle says the same");
    }

    @Test
    void theEncoderMayLieInAFolderOfItsOwn() throws IOException {
        write("modules.json", """
                [{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]""");
        assertEquals(model.resolve("0_Transformer"), EmbeddingConfig.encoder(model));
        write("modules.json", """
                [{"path": "../other", "type": "sentence_transformers.models.Transformer"}]""");
        assertTrue(assertThrows(TorchAneException.class, () -> EmbeddingConfig.encoder(model))
                .getMessage()
                .contains("leaves the directory"));
    }

    @Test
    void aCausalModelIsItsLastToken() throws IOException {
        write("config.json", """
                {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 40960}""");
        write("config_sentence_transformers.json", """
                {"prompts": {"query": "Query: ", "document": ""}, "default_prompt_name": null}""");
        EmbeddingConfig config = EmbeddingConfig.read(model);
        assertEquals(List.of(Pooling.LAST), config.poolings());
        assertTrue(config.causal());
        assertEquals(Map.of("query", "Query: ", "document", ""), config.prompts());
    }

    @Test
    void positionsOfRobertaBeginBehindThePaddingToken() throws IOException {
        write("config.json", """
                {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}""");
        assertEquals(512, EmbeddingConfig.read(model).maxTokens());
    }

    @Test
    void whatIsNotKnownIsRefusedByName() throws IOException {
        write("modules.json", """
                [{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]""");
        assertTrue(
                assertThrows(TorchAneException.class, this::bert).getMessage().contains("models.Dense"));
        write("modules.json", """
                [{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]""");
        write("1_Pooling/config.json", """
                {"pooling_mode": "attention"}""");
        assertTrue(
                assertThrows(TorchAneException.class, this::bert).getMessage().contains("'attention'"));
        write("1_Pooling/config.json", "{}");
        assertTrue(
                assertThrows(TorchAneException.class, this::bert).getMessage().contains("sets none of"));
        write("1_Pooling/config.json", "{");
        assertTrue(
                assertThrows(TorchAneException.class, this::bert).getMessage().contains("is not JSON"));
    }

    @Test
    void aTextThatIsTooLongKeepsTheTokensAroundIt() {
        TokenLimit limit = new TokenLimit(5);
        int[] around = {101, 102};
        assertArrayEquals(new int[] {101, 1, 2, 3, 102}, limit.cut(new int[] {101, 1, 2, 3, 102}, around));
        assertArrayEquals(new int[] {101, 1, 2, 3, 102}, limit.cut(new int[] {101, 1, 2, 3, 4, 5, 102}, around));
        assertArrayEquals(new int[] {1, 2, 3, 4, 9}, limit.cut(new int[] {1, 2, 3, 4, 5, 9}, new int[] {9}));
        assertArrayEquals(new int[] {1, 2, 3, 4, 5}, limit.cut(new int[] {1, 2, 3, 4, 5, 6}, new int[0]));
    }

    @Test
    void poolings() {
        float[] states = {1, -4, 3, 0, 5, 1, 99, 99};
        assertArrayEquals(new float[] {1, -4}, Pooling.CLS.pool(states, 3, 2));
        assertArrayEquals(new float[] {3, -1}, Pooling.MEAN.pool(states, 3, 2));
        assertArrayEquals(new float[] {5, 1}, Pooling.MAX.pool(states, 3, 2));
        assertArrayEquals(new float[] {5, 1}, Pooling.LAST.pool(states, 3, 2));
        assertArrayEquals(
                new float[] {9 / (float) Math.sqrt(3), -3 / (float) Math.sqrt(3)},
                Pooling.MEAN_SQRT_LEN.pool(states, 3, 2),
                1e-6f);
        assertArrayEquals(new float[] {22 / 6f, -1 / 6f}, Pooling.WEIGHTED_MEAN.pool(states, 3, 2), 1e-6f);
    }
}
