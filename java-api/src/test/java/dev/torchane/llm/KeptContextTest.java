package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.torchane.engine.StateStorage;
import dev.torchane.testing.TinyTransformer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A context that is kept between calls: prefixes, copies, files. What was cached never shows in the logits. */
class KeptContextTest {

    private static final SortedMap<String, String> FINGERPRINT = new TreeMap<>(Map.of("model", "tiny"));

    @TempDir
    Path folder;

    private static int[] ids(int count, int seed) {
        return IntStream.range(0, count)
                .map(i -> 3 + (i * 31 + seed * 17) % 260)
                .toArray();
    }

    private static float[] cold(LanguageModel model, int[] ids) {
        try (KvState state = model.newState()) {
            return model.feed(state, ids, _ -> {});
        }
    }

    /** Feeds what is not kept of {@code ids}. */
    private static float[] warm(LanguageModel model, KvState state, int[] ids) {
        int kept = state.keepCommonPrefix(ids);
        return model.feed(state, Arrays.copyOfRange(ids, kept, ids.length), _ -> {});
    }

    private static int[] joined(int[] first, int[] second) {
        int[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @ParameterizedTest
    @EnumSource
    void logitsHaveTheSameBitsColdWithAKeptPrefixAfterAClimbAndFromAFile(StateStorage states) {
        TinyTransformer tiny = TinyTransformer.standard();
        try (OpenedModel opened = OpenedModel.open(tiny.write(folder.resolve("bundle")), states)) {
            LanguageModel model = opened.model();
            // 32 is the first rung; behind 58 a prefill window is shifted back at the edge of 64, behind 100 at 128
            for (int prefix : new int[] {1, 3, 7, 8, 9, 15, 17, 31, 32, 33, 45, 58, 61, 64, 100, 111}) {
                for (int more : new int[] {1, 5, 12, 17}) {
                    if (prefix + more > 128) {
                        continue;
                    }
                    int[] whole = joined(ids(prefix, 1), ids(more, 2));
                    float[] expected = cold(model, whole);
                    String what = prefix + " kept, " + more + " more";
                    try (KvState state = model.newState()) {
                        // what was there beyond the prefix must not matter
                        model.feed(state, joined(ids(prefix, 1), ids(Math.min(9, 128 - prefix), 3)), _ -> {});
                        Path file = folder.resolve("state");
                        state.save(file, FINGERPRINT, new byte[] {7});
                        assertArrayEquals(expected, warm(model, state, whole), what);
                        LanguageModel.Restored restored = model.restore(file, FINGERPRINT);
                        try (KvState fromFile = restored.state()) {
                            assertArrayEquals(expected, warm(model, fromFile, whole), what + ", from a file");
                        }
                        assertArrayEquals(new byte[] {7}, restored.attachment());
                    }
                }
            }
        }
    }

    @Test
    void aWholeContextThatIsKnownFeedsItsLastTokenOnly() {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder))) {
            LanguageModel model = opened.model();
            try (KvState state = model.newState()) {
                float[] expected = model.feed(state, ids(20, 1), _ -> {});
                assertEquals(19, state.keepCommonPrefix(ids(20, 1)));
                assertArrayEquals(expected, model.feed(state, new int[] {ids(20, 1)[19]}, _ -> {}));
                assertEquals(9, state.keepCommonPrefix(ids(10, 1)));
                assertEquals(0, state.keepCommonPrefix(ids(10, 2)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCopyGoesItsOwnWay(StateStorage states) {
        try (OpenedModel opened = OpenedModel.open(TinyTransformer.standard().write(folder), states)) {
            LanguageModel model = opened.model();
            try (KvState state = model.newState()) {
                model.feed(state, ids(37, 1), _ -> {});
                try (KvState copy = state.fork()) {
                    model.feed(state, ids(40, 2), _ -> {});
                    assertArrayEquals(cold(model, joined(ids(37, 1), ids(5, 3))), model.feed(copy, ids(5, 3), _ -> {}));
                }
                assertArrayEquals(
                        cold(model, joined(joined(ids(37, 1), ids(40, 2)), ids(1, 4))),
                        model.feed(state, ids(1, 4), _ -> {}));
            }
        }
    }

    @Test
    void aTurnOf20TokensBehind2000Feeds20() {
        TinyTransformer tiny = TinyTransformer.standard().withLadder(2048, 512, 1024, 2048);
        try (OpenedModel opened = OpenedModel.open(tiny.write(folder))) {
            LanguageModel model = opened.model();
            try (KvState state = model.newState()) {
                model.feed(state, ids(2000, 1), _ -> {});
                int[] turn = joined(ids(2000, 1), ids(20, 2));
                AtomicInteger fed = new AtomicInteger();
                int kept = state.keepCommonPrefix(turn);
                model.feed(state, Arrays.copyOfRange(turn, kept, turn.length), fed::set);
                assertEquals(20, fed.get());
            }
        }
    }
}
