package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.engine.StateStorage;
import dev.torchane.testing.TinyTransformer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Streams that share a state give what they give alone: the same ids, and the same bits of logits on the way. */
class BatchLoopTest {

    @TempDir
    Path folder;

    /** What a stream is asked for. */
    private record Wish(int[] prompt, int maxNewTokens, Sampling sampling, Set<Integer> eos) {

        /** A stream that records the logits its tokens are chosen from. */
        TokenStream stream(List<float[]> logits) {
            Sampler sampler = sampling.newSampler();
            return new TokenStream(TokenStream.Rules.of(
                    (values, history) -> {
                        assertEquals(prompt.length, history.promptSize());
                        assertEquals(prompt[0], history.at(0));
                        logits.add(values.clone());
                        return sampler.sample(values, history);
                    },
                    eos,
                    maxNewTokens));
        }
    }

    private record Told(int[] ids, FinishReason reason, List<float[]> logits) {}

    private static int[] prompt(int length, int seed) {
        return IntStream.range(0, length)
                .map(i -> 3 + (i * 37 + seed * 101) % 260)
                .toArray();
    }

    private static Told alone(LanguageModel model, Wish wish) {
        List<float[]> logits = new ArrayList<>();
        TokenStream stream = wish.stream(logits);
        try (KvState state = model.newState()) {
            new GenerationLoop(model, state, wish.prompt(), stream, _ -> {}).run();
        }
        return new Told(stream.ids(), stream.reason(), logits);
    }

    private static List<Told> together(LanguageModel model, List<Wish> wishes) {
        List<List<float[]>> logits = new ArrayList<>();
        List<BatchLoop.Request> requests = new ArrayList<>();
        for (Wish wish : wishes) {
            logits.add(new ArrayList<>());
            requests.add(new BatchLoop.Request(wish.prompt(), wish.stream(logits.getLast()), _ -> {}));
        }
        Map<BatchLoop.Request, Integer> ended = new IdentityHashMap<>();
        try (BatchLoop loop = new BatchLoop(model, requests, (request, failure) -> {
            assertEquals(Optional.empty(), failure);
            ended.merge(request, 1, Integer::sum);
        })) {
            loop.run();
            assertFalse(loop.step());
        }
        assertEquals(wishes.size(), ended.size());
        assertTrue(ended.values().stream().allMatch(count -> count == 1), "each ends once");
        return IntStream.range(0, wishes.size())
                .mapToObj(i -> new Told(
                        requests.get(i).stream().ids(), requests.get(i).stream().reason(), logits.get(i)))
                .toList();
    }

    private static void assertSameAloneAndTogether(LanguageModel model, List<Wish> wishes) {
        List<Told> together = together(model, wishes);
        for (int i = 0; i < wishes.size(); i++) {
            Told alone = alone(model, wishes.get(i));
            String what = "stream " + i + " of " + wishes.size();
            assertArrayEquals(alone.ids(), together.get(i).ids(), what);
            assertEquals(alone.reason(), together.get(i).reason(), what);
            for (int step = 0; step < alone.logits().size(); step++) {
                assertArrayEquals(
                        alone.logits().get(step), together.get(i).logits().get(step), what + ", step " + step);
            }
        }
    }

    private static Wish greedy(int promptLength, int maxNewTokens, int seed) {
        return new Wish(prompt(promptLength, seed), maxNewTokens, Sampling.greedy(), Set.of());
    }

    @ParameterizedTest
    @EnumSource
    void oneToEightStreamsOfDifferentLengthsOneOfThemEndingEarly(StateStorage states) {
        Path bundle = TinyTransformer.standard().write(folder);
        try (OpenedModel opened = OpenedModel.open(bundle, states)) {
            for (int count = 1; count <= 8; count++) {
                List<Wish> wishes = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    int length = new int[] {12, 3, 1, 7, 8, 9, 5, 2}[i];
                    Sampling sampling = i % 2 == 0
                            ? Sampling.greedy()
                            : Sampling.temperature(0.8).withSeed(40 + i);
                    wishes.add(new Wish(prompt(length, i), i == 1 ? 2 : 6, sampling, Set.of()));
                }
                assertSameAloneAndTogether(opened.model(), wishes);
            }
        }
    }

    @Test
    void anEndOfSequenceTokenEndsItsStreamAlone() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            LanguageModel model = opened.model();
            int third = alone(model, greedy(5, 3, 1)).ids()[2];
            List<Wish> wishes = List.of(
                    greedy(9, 10, 3), new Wish(prompt(5, 1), 10, Sampling.greedy(), Set.of(third)), greedy(4, 10, 2));
            assertSameAloneAndTogether(model, wishes);
            Told ended = together(model, wishes).get(1);
            assertEquals(FinishReason.STOP, ended.reason());
            assertEquals(third, ended.ids()[ended.ids().length - 1]);
        }
    }

    @Test
    void aQueueThatNeedsManyTimesTheColumnsOfTheStateClimbsMovesAndGoesOn() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            List<Wish> wishes = IntStream.range(0, 40)
                    .mapToObj(i -> greedy(1 + i * 7 % 30, 1 + i * 11 % 25, i))
                    .toList();
            int columns = wishes.stream()
                    .mapToInt(wish -> wish.prompt().length + wish.maxNewTokens())
                    .sum();
            assertTrue(columns > 8 * 128, columns + " columns");
            assertSameAloneAndTogether(opened.model(), wishes);
        }
    }

    @Test
    void streamsThatFillTheContextAreSetAsideAndGoOnUntilTheyReachIt() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            List<Wish> wishes = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                wishes.add(greedy(i == 4 ? 128 : 10 + i, 1000, i));
            }
            assertSameAloneAndTogether(opened.model(), wishes);
            assertTrue(
                    together(opened.model(), wishes).stream().allMatch(told -> told.reason() == FinishReason.LENGTH));
        }
    }

    @Test
    void anEngineThatComputesWholeWindowsGivesTheSame() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            List<Wish> wishes = IntStream.range(0, 12)
                    .mapToObj(i -> greedy(1 + i * 7 % 30, 5 + i * 11 % 40, i))
                    .toList();
            assertSameAloneAndTogether(opened.withWholeWindows().model(), wishes);
        }
    }

    @Test
    void promptsShareWhatTheyHaveInCommon() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            int[] first = prompt(40, 1);
            int[] second = first.clone();
            second[33] = 7;
            List<Wish> wishes = List.of(
                    new Wish(first, 4, Sampling.greedy(), Set.of()), new Wish(second, 4, Sampling.greedy(), Set.of()));
            assertSameAloneAndTogether(opened.model(), wishes);
            List<BatchLoop.Request> requests = wishes.stream()
                    .map(wish -> new BatchLoop.Request(wish.prompt(), wish.stream(new ArrayList<>()), _ -> {}))
                    .toList();
            try (BatchLoop loop = new BatchLoop(opened.model(), requests, (_, _) -> {})) {
                loop.run();
            }
            assertEquals(0, requests.get(0).stream().stats().cachedTokens());
            assertEquals(33, requests.get(1).stream().stats().cachedTokens());
        }
    }

    @Test
    void aFailureOrACancellationOfOneStreamLeavesTheOthersAsTheyAre() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            LanguageModel model = opened.model();
            TokenStream cancelled = greedy(6, 50, 1).stream(new ArrayList<>());
            TokenStream failing =
                    new TokenStream(new TokenStream.Rules(Sampler.greedy(), Set.of(), 50, -1, () -> false, token -> {
                        throw new IllegalArgumentException("listener");
                    }));
            Wish kept = greedy(7, 12, 2);
            TokenStream good = kept.stream(new ArrayList<>());
            List<RuntimeException> failures = new ArrayList<>();
            List<BatchLoop.Request> requests = List.of(
                    new BatchLoop.Request(prompt(6, 1), cancelled, _ -> {}),
                    new BatchLoop.Request(prompt(5, 3), failing, _ -> {}),
                    new BatchLoop.Request(kept.prompt(), good, _ -> {}));
            try (BatchLoop loop = new BatchLoop(model, requests, (_, failure) -> failure.ifPresent(failures::add))) {
                loop.step();
                cancelled.cancel();
                loop.run();
            }
            assertEquals(FinishReason.CANCELLED, cancelled.reason());
            assertEquals(1, failures.size());
            assertEquals("listener", failures.getFirst().getMessage());
            assertArrayEquals(alone(model, kept).ids(), good.ids());
        }
    }

    @Test
    void nothingIsComputedWhenAPromptIsWrongOrTheProgramHasNoBatch() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder.resolve("a")));
                OpenedModel none = OpenedModel.open(
                        TinyTransformer.standard().withBatch(false).write(folder.resolve("b")))) {
            for (int[] prompt : new int[][] {{}, {-1}, {99999}}) {
                assertThrows(IllegalArgumentException.class, () -> begin(opened.model(), prompt));
            }
            assertThrows(ContextOverflowException.class, () -> begin(opened.model(), prompt(129, 1)));
            TorchAneException e = assertThrows(TorchAneException.class, () -> begin(none.model(), prompt(3, 1)));
            assertTrue(e.getMessage().contains("batch(true)"), e.getMessage());
        }
    }

    private static void begin(LanguageModel model, int[] prompt) {
        TokenStream stream = new TokenStream(TokenStream.Rules.of(Sampler.greedy(), Set.of(), 1));
        List<BatchLoop.Request> requests = List.of(new BatchLoop.Request(prompt, stream, _ -> {}));
        new BatchLoop(model, requests, (_, _) -> {}).close();
    }
}
