package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** One stream, driven with logits by hand. */
class TokenStreamTest {

    private static final int EOS = 4;

    private static final TokenHistory NOTHING = new TokenHistory() {
        @Override
        public int size() {
            return 0;
        }

        @Override
        public int promptSize() {
            return 0;
        }

        @Override
        public int at(int position) {
            throw new IndexOutOfBoundsException(position);
        }
    };

    private static float[] wanting(int id) {
        float[] logits = new float[6];
        logits[id] = 2;
        return logits;
    }

    private static TokenStream stream(int maxNewTokens, int room) {
        TokenStream stream = new TokenStream(TokenStream.Rules.of(Sampler.greedy(), Set.of(EOS), maxNewTokens));
        stream.begin(5, 2, room);
        return stream;
    }

    private static OptionalInt next(TokenStream stream, int wanted) {
        return stream.next(wanting(wanted), NOTHING);
    }

    @Test
    void it_goes_on_until_an_end_of_sequence_token() {
        TokenStream stream = stream(100, 100);
        assertEquals(OptionalInt.of(3), next(stream, 3));
        assertFalse(stream.isFinished());
        assertThrows(IllegalStateException.class, stream::reason);
        assertEquals(OptionalInt.of(EOS), next(stream, EOS));
        assertTrue(stream.isFinished());
        assertEquals(FinishReason.STOP, stream.reason());
        assertEquals(OptionalInt.empty(), next(stream, 1));
        assertArrayEquals(new int[] {3, EOS}, stream.ids());
    }

    @Test
    void the_limit_and_the_room_behind_the_prompt_end_it_whichever_is_less() {
        for (int[] limits : new int[][] {{2, 100}, {100, 1}, {2, 1}, {2, Integer.MAX_VALUE}}) {
            TokenStream stream = stream(limits[0], limits[1]);
            next(stream, 1);
            assertFalse(stream.isFinished());
            assertEquals(OptionalInt.of(1), next(stream, 1));
            assertTrue(stream.isFinished());
            assertEquals(FinishReason.LENGTH, stream.reason());
        }
        TokenStream none = stream(0, 100);
        assertEquals(OptionalInt.empty(), next(none, 1));
        assertEquals(FinishReason.LENGTH, none.reason());
        assertEquals(0, none.ids().length);
    }

    @Test
    void a_cancelled_stream_takes_no_further_token() {
        TokenStream stream = stream(100, 100);
        next(stream, 1);
        stream.cancel();
        assertEquals(OptionalInt.empty(), next(stream, 1));
        assertEquals(FinishReason.CANCELLED, stream.reason());
        AtomicBoolean cancelled = new AtomicBoolean();
        TokenStream asking = new TokenStream(
                new TokenStream.Rules(Sampler.greedy(), Set.of(), 100, -1, cancelled::get, token -> true));
        asking.begin(1, 0, 100);
        assertFalse(asking.isFinished());
        cancelled.set(true);
        assertTrue(asking.isFinished());
        assertEquals(FinishReason.CANCELLED, asking.reason());
    }

    @Test
    void the_first_reason_stays() {
        TokenStream stream = stream(1, 100);
        next(stream, 1);
        stream.cancel();
        stream.fail();
        assertEquals(FinishReason.LENGTH, stream.reason());
        TokenStream failed = stream(9, 100);
        next(failed, 1);
        failed.fail();
        failed.cancel();
        assertEquals(FinishReason.ERROR, failed.reason());
        assertArrayEquals(new int[] {1}, failed.ids());
    }

    @Test
    void who_listens_hears_each_token_with_its_end_and_may_stop() {
        List<NewToken> heard = new ArrayList<>();
        TokenStream stream =
                new TokenStream(new TokenStream.Rules(Sampler.greedy(), Set.of(EOS), 3, 1, () -> false, token -> {
                    heard.add(token);
                    return token.id() != 2;
                }));
        stream.begin(1, 0, 100);
        next(stream, 1);
        next(stream, 2);
        assertEquals(FinishReason.STOP, stream.reason());
        double sum = Math.log(Math.exp(2) + 5);
        assertEquals(List.of(1, 2), heard.stream().map(NewToken::id).toList());
        assertEquals(Optional.empty(), heard.getFirst().end());
        TokenLogprobs logprobs = heard.getFirst().logprobs().orElseThrow();
        assertEquals(2 - sum, logprobs.chosen().value(), 1e-9);
        assertEquals(List.of(logprobs.chosen()), logprobs.top());
        assertEquals(heard.stream().map(token -> token.logprobs().orElseThrow()).toList(), stream.logprobs());
    }

    @Test
    void the_likeliest_come_first_and_the_smaller_id_among_equals() {
        TokenLogprobs logprobs = TokenLogprobs.of(new float[] {1, 3, 2, 3, 0}, 0, 4);
        assertEquals(
                List.of(1, 3, 2, 0), logprobs.top().stream().map(Logprob::id).toList());
        assertEquals(0, TokenLogprobs.of(new float[] {1, 2}, 0, 0).top().size());
        assertEquals(2, TokenLogprobs.of(new float[] {1, 2}, 0, 9).top().size());
    }

    @Test
    void figures_count_what_was_cached() {
        TokenStream stream = stream(2, 100);
        next(stream, 1);
        next(stream, 1);
        GenerationStats stats = stream.stats();
        assertEquals(5, stats.promptTokens());
        assertEquals(2, stats.cachedTokens());
        assertEquals(2, stats.newTokens());
        assertTrue(stats.samplingNanos() <= stats.decodeNanos());
    }
}
