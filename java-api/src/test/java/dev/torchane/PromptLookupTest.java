package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.grammar.Grammar;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.testing.TinyTransformer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens that are proposed from the text so far change the time a generation takes, and nothing else. */
class PromptLookupTest {

    private static final TinyTransformer TINY = TinyTransformer.standard().withLadder(256, 32, 64, 256);

    @TempDir
    Path folder;

    private CausalLM lm;

    @BeforeEach
    void open() {
        lm = open(TINY);
    }

    private CausalLM open(TinyTransformer model) {
        Path bundle = folder.resolve("bundle-" + model.batch() + "-" + model.seed());
        return CausalLM.open(
                model.write(bundle), CausalLMOptions.builder().threads(1).build());
    }

    @AfterEach
    void close() {
        lm.close();
    }

    /** The same few ids again and again: their last ones have always stood together before. */
    private static int[] repeating(int period, int count) {
        return IntStream.range(0, count).map(i -> 3 + i % period * 31 % 260).toArray();
    }

    private static GenerateOptions tokens(int count) {
        return GenerateOptions.defaults().withMaxNewTokens(count);
    }

    private void assertTheSame(int[] prompt, GenerateOptions options, String label) {
        Generation plain = lm.generate(prompt, options);
        Generation found = lm.generate(prompt, options.withPromptLookup(true));
        assertArrayEquals(plain.ids(), found.ids(), label);
        assertEquals(plain.text(), found.text(), label);
        assertEquals(plain.reason(), found.reason(), label);
        assertEquals(plain.logprobs(), found.logprobs(), label);
    }

    @Test
    void the_answer_is_the_same_for_every_sampler_and_length() {
        for (int count : new int[] {0, 1, 2, 50}) {
            for (int period : new int[] {1, 7}) {
                int[] prompt = repeating(period, 50);
                String label = count + " tokens, period " + period;
                assertTheSame(prompt, tokens(count), label);
                assertTheSame(prompt, tokens(count).withLogprobs(3), label + ", logprobs");
                assertTheSame(
                        prompt,
                        tokens(count)
                                .withSampling(
                                        Sampling.temperature(1.3).withTopK(20).withSeed(4)),
                        label + ", drawn");
                assertTheSame(
                        prompt,
                        tokens(count).withSampling(Sampling.greedy().withRepetitionPenalty(1.2)),
                        label + ", penalty");
            }
        }
    }

    @Test
    void the_answer_is_the_same_with_a_grammar_and_where_a_string_ends_it() {
        int[] prompt = repeating(2, 40);
        assertTheSame(prompt, tokens(40).withGrammar(Grammar.regex("(ab){3,20}c?")), "grammar");
        String text = lm.generate(prompt, tokens(40)).text();
        for (int from : new int[] {3, 9, 14}) {
            String stop = text.substring(from, from + 3);
            assertTheSame(prompt, tokens(40).withStop(stop), "ends with " + stop);
        }
    }

    @Test
    void a_cancelled_answer_has_the_tokens_that_were_heard() {
        int[] prompt = repeating(2, 40);
        int[] whole = lm.generate(prompt, tokens(60)).ids();
        for (int after : new int[] {1, 7, 20, 33}) {
            Cancellation cancellation = new Cancellation();
            int[] heard = {0};
            Generation ended = lm.generate(
                    prompt,
                    tokens(60)
                            .withPromptLookup(true)
                            .withCancellation(cancellation)
                            .withOnToken(token -> {
                                if (++heard[0] == after) {
                                    cancellation.cancel();
                                }
                            }));
            assertEquals(FinishReason.CANCELLED, ended.reason());
            assertArrayEquals(Arrays.copyOf(whole, ended.ids().length), ended.ids());
            assertEquals(after, ended.ids().length);
        }
    }

    @Test
    void the_answer_is_the_same_to_the_end_of_the_context() {
        assertTheSame(repeating(3, 30), tokens(1000), "every rung");
        assertTheSame(repeating(3, 251), tokens(1000), "a few tokens left");
        assertEquals(
                FinishReason.LENGTH,
                lm.generate(repeating(3, 256), tokens(9).withPromptLookup(true)).reason());
    }

    @Test
    void proposals_are_computed_beside_the_next_token() throws IOException {
        int count = 100;
        // a greedy model without memory runs in circles
        int steps = steps(repeating(2, 40), tokens(count).withPromptLookup(true));
        assertTrue(steps < count - 4, count + " tokens took " + steps + " steps");
        assertEquals(count - 1, steps(repeating(2, 40), tokens(count)));
    }

    private int steps(int[] prompt, GenerateOptions options) throws IOException {
        Path file = folder.resolve("steps.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("dev.torchane.Step").withoutThreshold();
            recording.start();
            Generation generation = lm.generate(prompt, options);
            recording.stop();
            recording.dump(file);
            assertEquals(FinishReason.LENGTH, generation.reason());
        }
        return (int) RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("dev.torchane.Step"))
                .count();
    }

    @Test
    void sessions_go_on_behind_proposals_that_were_not_taken() {
        List<GenerateOptions> each = List.of(tokens(30), tokens(30).withPromptLookup(true));
        List<List<Integer>> answers = each.stream()
                .map(options -> {
                    try (Session session = lm.newSession()) {
                        int[] first =
                                session.generate(repeating(5, 40), options).ids();
                        int[] whole = IntStream.concat(
                                        IntStream.concat(IntStream.of(repeating(5, 40)), IntStream.of(first)),
                                        IntStream.of(9, 8, 7))
                                .toArray();
                        int[] second = session.generate(whole, options).ids();
                        return IntStream.concat(IntStream.of(first), IntStream.of(second))
                                .boxed()
                                .toList();
                    }
                })
                .toList();
        assertEquals(answers.getFirst(), answers.getLast());
    }

    @Test
    void without_batch_functions_it_changes_nothing() {
        lm.close();
        lm = open(TINY.withBatch(false));
        assertTheSame(repeating(3, 30), tokens(40), "no batch functions");
    }
}
