package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.grammar.Grammar;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.testing.TinyTokenizer;
import dev.torchane.testing.TinyTransformer;
import dev.torchane.text.ChatMessage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many generations in one call, each with its own options, each as it would be alone. */
class BatchTest {

    private static final CausalLMOptions OPTIONS =
            CausalLMOptions.builder().threads(1).build();

    @TempDir
    Path folder;

    private static GenerateOptions tokens(int count) {
        return GenerateOptions.defaults().withMaxNewTokens(count);
    }

    private static List<BatchRequest> requests() {
        List<BatchRequest> requests = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            GenerateOptions options = tokens(4 + 3 * i).withLogprobs(i % 3);
            if (i % 2 == 1) {
                options = options.withSampling(Sampling.temperature(0.8).withSeed(i));
            }
            requests.add(BatchRequest.of("the world ".repeat(1 + i % 4), options));
        }
        requests.add(BatchRequest.of(List.of(ChatMessage.system("the"), ChatMessage.user("end")), tokens(6)));
        requests.add(BatchRequest.of(new int[] {5, 6, 7}, tokens(0)));
        return requests;
    }

    private static Generation alone(CausalLM lm, BatchRequest request) {
        return switch (request.prompt()) {
            case BatchRequest.Prompt.Text(String text) -> lm.generate(text, request.options());
            case BatchRequest.Prompt.Chat(var chat) -> lm.generate(chat, request.options());
            case BatchRequest.Prompt.Ids(var ids) ->
                lm.generate(ids.stream().mapToInt(Integer::intValue).toArray(), request.options());
        };
    }

    @Test
    void eachResultIsTheOneThatItsRequestHasAloneWithBatchFunctionsAndWithout() {
        for (boolean functions : new boolean[] {true, false}) {
            Path bundle = TinyTransformer.standard().withBatch(functions).write(folder.resolve("" + functions));
            try (CausalLM lm = CausalLM.open(bundle, OPTIONS)) {
                List<BatchRequest> requests = requests();
                List<Generation> together = lm.generateBatch(requests);
                assertEquals(requests.size(), together.size());
                for (int i = 0; i < requests.size(); i++) {
                    Generation alone = alone(lm, requests.get(i));
                    assertArrayEquals(alone.ids(), together.get(i).ids(), "request " + i);
                    assertEquals(alone.text(), together.get(i).text());
                    assertEquals(alone.reason(), together.get(i).reason());
                    assertEquals(alone.logprobs(), together.get(i).logprobs());
                }
            }
        }
    }

    @Test
    void anyNumberOfPromptsOfAnyLengthWithTheSameSeed() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            for (int count : new int[] {1, 8, 30}) {
                List<BatchRequest> requests = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    int[] prompt = IntStream.range(0, 1 + i * 53 % 120)
                            .map(at -> 3 + at % 250)
                            .toArray();
                    requests.add(BatchRequest.of(
                            prompt,
                            tokens(i * 7 % 20)
                                    .withLogprobs(1)
                                    .withSampling(Sampling.temperature(1.2).withSeed(1))));
                }
                List<Generation> together = lm.generateBatch(requests);
                for (int i = 0; i < count; i++) {
                    Generation alone = alone(lm, requests.get(i));
                    assertArrayEquals(alone.ids(), together.get(i).ids(), "request " + i + " of " + count);
                    assertEquals(alone.logprobs(), together.get(i).logprobs());
                }
            }
        }
    }

    @Test
    void aPromptThatWaitsForARowIsCancelledWithinAStep() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            Cancellation cancellation = new Cancellation();
            List<String> ends = new ArrayList<>();
            List<BatchRequest> requests = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                requests.add(BatchRequest.of(
                        new int[] {3, 4, 5},
                        tokens(20)
                                .withSampling(Sampling.greedy().withBias(Map.of(2, -100f)))
                                .withOnToken(_ -> cancellation.cancel())
                                .withOnEnd(_ -> ends.add("row"))));
            }
            requests.add(BatchRequest.of(
                    new int[] {3, 4}, tokens(20).withCancellation(cancellation).withOnEnd(_ -> ends.add("waiting"))));
            Generation waited = lm.generateBatch(requests).getLast();
            assertEquals("waiting", ends.getFirst());
            assertEquals(FinishReason.CANCELLED, waited.reason());
            assertEquals(2, waited.stats().promptTokens());
            assertTrue(waited.stats().prefillNanos() >= 0 && waited.stats().decodeNanos() >= 0);
        }
    }

    @Test
    void aStreamWithoutAChoiceFailsAlone() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            Map<Integer, Float> all = new HashMap<>();
            IntStream.range(0, TinyTokenizer.SIZE).forEach(id -> all.put(id, Float.NEGATIVE_INFINITY));
            BatchException e = assertThrows(
                    BatchException.class,
                    () -> lm.generateBatch(List.of(
                            BatchRequest.of(new int[] {3}, tokens(5)),
                            BatchRequest.of(
                                    new int[] {3},
                                    tokens(5)
                                            .withGrammar(Grammar.regex("a+"))
                                            .withSampling(Sampling.greedy().withBias(all))),
                            BatchRequest.of(new int[] {3}, tokens(5)))));
            assertTrue(e.getMessage().contains("every token is excluded"), e.getMessage());
            int[] alone = lm.generate(new int[] {3}, tokens(5)).ids();
            assertArrayEquals(alone, e.results().getFirst().ids());
            assertArrayEquals(alone, e.results().getLast().ids());
            assertEquals(FinishReason.ERROR, e.results().get(1).reason());
        }
    }

    @Test
    void textsWithTheSameOptionsAndNoneAtAll() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            List<Generation> both = lm.generateBatch(List.of("hello", "the world"), tokens(5));
            assertArrayEquals(
                    lm.generate("the world", tokens(5)).ids(), both.getLast().ids());
            assertEquals(List.of(), lm.generateBatch(List.of()));
        }
    }

    @Test
    void afterAFailureTheOthersRunToTheirEndAndTheExceptionHasAllResults() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            List<Generation> ends = new ArrayList<>();
            GenerateOptions failing = tokens(5).withOnToken(token -> {
                throw new IllegalArgumentException("listener");
            });
            BatchException e = assertThrows(
                    BatchException.class,
                    () -> lm.generateBatch(List.of(
                            BatchRequest.of("hello", tokens(7).withOnEnd(ends::add)),
                            BatchRequest.of("hello", failing.withOnEnd(ends::add)))));
            assertArrayEquals(
                    lm.generate("hello", tokens(7)).ids(),
                    e.results().getFirst().ids());
            assertEquals(FinishReason.ERROR, e.results().getLast().reason());
            assertEquals(1, e.results().getLast().ids().length);
            assertEquals(2, ends.size());
            assertTrue(e.getMessage().contains("1 of 2") && e.getMessage().contains("listener"), e.getMessage());
        }
    }

    @Test
    void aPromptThatIsWrongIsRefusedBeforeAnythingIsComputed() {
        try (CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS)) {
            List<Integer> heard = new ArrayList<>();
            List<BatchRequest> requests = List.of(
                    BatchRequest.of("hello", tokens(3).withOnPrefill(heard::add)),
                    BatchRequest.of(new int[0], tokens(3)));
            assertThrows(IllegalArgumentException.class, () -> lm.generateBatch(requests));
            assertEquals(List.of(), heard);
        }
    }

    @Test
    void aModelThatIsClosedOnTheWayEndsTheBatchWithAnIllegalState() {
        CausalLM lm = CausalLM.open(TinyTransformer.standard().write(folder), OPTIONS);
        List<Generation> ends = new ArrayList<>();
        List<BatchRequest> requests = List.of(
                BatchRequest.of("hello", tokens(50).withOnToken(_ -> lm.close())),
                BatchRequest.of("hello", tokens(50).withOnEnd(ends::add)));
        assertThrows(IllegalStateException.class, () -> lm.generateBatch(requests));
        assertEquals(FinishReason.ERROR, ends.getFirst().reason());
    }
}
