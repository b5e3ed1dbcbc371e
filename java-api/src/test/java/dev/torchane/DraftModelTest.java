package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.testing.TinyTransformer;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens that a smaller model proposes change the time a generation takes, and nothing else. */
class DraftModelTest {

    private static final TinyTransformer TINY = TinyTransformer.standard().withLadder(256, 32, 64, 256);
    private static final int[] PROMPT =
            IntStream.range(0, 40).map(i -> 3 + i * 31 % 260).toArray();

    @TempDir
    Path folder;

    private CausalLM lm;
    private CausalLM other;

    @BeforeEach
    void open() {
        lm = open(TINY);
        other = open(TINY.withSeed(6).withLadder(64, 32, 64));
    }

    private CausalLM open(TinyTransformer model) {
        Path bundle = folder.resolve("bundle-" + model.seed());
        return CausalLM.open(
                model.write(bundle), CausalLMOptions.builder().threads(1).build());
    }

    @AfterEach
    void close() {
        lm.close();
        other.close();
    }

    private static GenerateOptions tokens(int count) {
        return GenerateOptions.defaults().withMaxNewTokens(count);
    }

    private void assertTheSame(Session draft, GenerateOptions options, String label) {
        Generation plain = lm.generate(PROMPT, options);
        Generation helped = lm.generate(PROMPT, options.withDraftModel(draft));
        assertArrayEquals(plain.ids(), helped.ids(), label);
        assertEquals(plain.reason(), helped.reason(), label);
        assertEquals(plain.logprobs(), helped.logprobs(), label);
    }

    @Test
    void the_answer_is_the_same_whoever_proposes() {
        try (Session twin = lm.newSession();
                Session stranger = other.newSession()) {
            for (Session draft : new Session[] {twin, stranger}) {
                assertTheSame(draft, tokens(100).withLogprobs(2), "greedy");
                assertTheSame(
                        draft, tokens(50).withSampling(Sampling.temperature(1.2).withSeed(7)), "drawn");
                // the stranger's context ends at 64 tokens
                assertTheSame(draft, tokens(1000), "to the end of the context");
            }
        }
    }

    @Test
    void a_twin_is_asked_and_right() {
        try (Session twin = lm.newSession()) {
            assertEquals(
                    FinishReason.LENGTH,
                    lm.generate(PROMPT, tokens(60).withDraftModel(twin)).reason());
            // what the twin has said is behind the prompt in its state
            int[] whole = lm.generate(PROMPT, tokens(60)).ids();
            int[] seen = twin.tokens();
            assertTrue(seen.length > PROMPT.length + 7, "the twin has seen " + seen.length + " tokens");
            for (int i = PROMPT.length; i < Math.min(seen.length, PROMPT.length + whole.length); i++) {
                assertEquals(whole[i - PROMPT.length], seen[i], "token " + i);
            }
        }
    }

    @Test
    void a_session_that_is_closed_or_generates_itself_is_refused() {
        Session draft = other.newSession();
        GenerateOptions options = tokens(40).withDraftModel(draft);
        draft.close();
        GenerationException closed = assertThrows(GenerationException.class, () -> lm.generate(PROMPT, options));
        assertTrue(closed.getMessage().contains("session"), closed.getMessage());
        try (Session own = lm.newSession()) {
            GenerationException same = assertThrows(
                    GenerationException.class,
                    () -> own.generate(PROMPT, tokens(40).withDraftModel(own)));
            assertTrue(same.getMessage().contains("in use"), same.getMessage());
        }
    }

    @Test
    void a_session_of_the_model_goes_on_with_a_draft() {
        try (Session session = lm.newSession();
                Session plain = lm.newSession();
                Session draft = other.newSession()) {
            int[] first =
                    session.generate(PROMPT, tokens(20).withDraftModel(draft)).ids();
            assertArrayEquals(plain.generate(PROMPT, tokens(20)).ids(), first);
            int[] more = IntStream.concat(
                            IntStream.concat(IntStream.of(PROMPT), IntStream.of(first)), IntStream.of(9, 8))
                    .toArray();
            assertArrayEquals(
                    plain.generate(more, tokens(20)).ids(),
                    session.generate(more, tokens(20).withDraftModel(draft)).ids());
        }
    }
}
