package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CompileOptions;
import dev.torchane.Embedding;
import dev.torchane.TextEmbedding;
import dev.torchane.cli.DemoModel;
import dev.torchane.venv.InstallProgress;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** all-MiniLM-L6-v2 with its real weights. The figures are those of transformers 5.24 with torch 2.6 in fp32. */
class TextEmbeddingTest {

    private static final String FOX = "The quick brown fox jumps over the lazy dog.";

    private static Path directory;
    private static TextEmbedding model;

    @BeforeAll
    static void build() {
        directory = DemoModel.fetchEmbedding(InstallProgress.none());
        model = TextEmbedding.fromPretrained(directory, CompileOptions.defaults());
    }

    @AfterAll
    static void close() {
        model.close();
    }

    private static void assertIs(Embedding embedding, int tokens, double sum, float... first) {
        assertEquals(tokens, embedding.tokens());
        assertArrayEquals(first, java.util.Arrays.copyOf(embedding.vector(), first.length), 2e-5f);
        double found = 0;
        double square = 0;
        for (float value : embedding.vector()) {
            found += Math.abs(value);
            square += value * value;
        }
        assertEquals(sum, found, 1e-3, "sum of magnitudes");
        assertEquals(1, square, 1e-5, "length");
    }

    @Test
    void vectors_are_those_of_transformers() {
        assertEquals(384, model.dimensions());
        assertIs(model.embed(FOX), 12, 15.657757, 0.043934f, 0.058934f, 0.048178f, 0.077548f, 0.026744f, -0.03763f);
        assertIs(model.embed("Who wrote Faust?"), 6, 15.824368, 0.009592f, 0.089883f, -0.004428f, 0.005762f);
        assertIs(model.embed(""), 2, 13.942971, -0.118838f, 0.048299f, -0.002548f, -0.011011f);
    }

    @Test
    void a_text_that_is_too_long_is_cut_and_says_so() {
        Embedding cut = model.embed("word ".repeat(600));
        assertIs(cut, 256, 15.552534, -0.008124f, -0.095586f, -0.038673f, 0.049662f, -0.043794f, 0.02372f);
        assertEquals(602 - 256, cut.cut());
        assertEquals(0, model.embed(FOX).cut());
    }

    @Test
    void close_texts_are_close() {
        List<Embedding> all =
                model.embed(List.of("Who wrote Faust?", "Goethe is the author of Faust.", "It rains today."));
        assertTrue(all.get(0).similarity(all.get(1)) > 0.8);
        assertTrue(all.get(0).similarity(all.get(2)) < 0.3);
        assertEquals(1, all.get(1).similarity(all.get(1)), 1e-6);
    }

    @Test
    void many_threads_get_what_one_gets() {
        float[] alone = model.embed(FOX).vector();
        IntStream.range(0, 8)
                .parallel()
                .forEach(i -> assertArrayEquals(alone, model.embed(FOX).vector()));
    }

    @Test
    void its_bundle_runs_by_itself_and_refuses_what_it_does_not_know() {
        TextEmbedding opened = TextEmbedding.open(model.bundle(), CompileOptions.defaults());
        assertArrayEquals(model.embed(FOX).vector(), opened.embed(FOX).vector());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> opened.embed(FOX, "query"))
                .getMessage()
                .contains("no prompt 'query'"));
        opened.close();
        assertThrows(IllegalStateException.class, () -> opened.embed(FOX));
    }
}
