package dev.torchane.llm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * The logic of one stream of generation: which token comes next, and whether one comes. It is driven with logits by whatever computes
 * them, a single loop, a session or a batch, and so a stream's result does not depend on which of them it was.
 *
 * <pre>{@code
 * stream.begin(promptTokens, cachedTokens, room);
 * float[] logits = …of the prompt…;
 * for (OptionalInt id = stream.next(logits, history); !stream.isFinished(); id = stream.next(logits, history)) {
 *     logits = …after id…;
 * }
 * }</pre>
 *
 * <p>Belongs to one thread at a time; {@link #cancel()} may be called from any.
 */
public final class TokenStream {

    /**
     * What a stream is made of.
     *
     * @param sampler chooses the tokens; serves this stream alone
     * @param eos ids that end the stream
     * @param maxNewTokens limit on new tokens; 0 generates nothing
     * @param logprobs how many of the most likely tokens to report for each token; negative reports none, not even the chosen one
     * @param cancelled asked before each step and between the windows of a prefill, true ends the stream with {@link
     *     FinishReason#CANCELLED}
     * @param onToken receives each token, the last one included; false ends the stream with {@link FinishReason#STOP}
     */
    public record Rules(
            Sampler sampler,
            Set<Integer> eos,
            int maxNewTokens,
            int logprobs,
            BooleanSupplier cancelled,
            Predicate<NewToken> onToken) {

        public Rules {
            eos = Set.copyOf(eos);
            if (maxNewTokens < 0) {
                throw new IllegalArgumentException("maxNewTokens must not be negative, found " + maxNewTokens);
            }
        }

        /** Ends by {@code eos} or the limit alone, and tells nobody. */
        public static Rules of(Sampler sampler, Set<Integer> eos, int maxNewTokens) {
            return new Rules(sampler, eos, maxNewTokens, -1, () -> false, token -> true);
        }
    }

    private final Rules rules;
    private final List<TokenLogprobs> logprobs = new ArrayList<>();
    private int[] ids = new int[16];
    private int count;
    private int limit;
    private volatile boolean cancelled;
    private Optional<FinishReason> reason = Optional.empty();

    private int promptTokens;
    private int cachedTokens;
    private long began = System.nanoTime();
    private long prefilled;
    private long ended;
    private long samplingNanos;

    public TokenStream(Rules rules) {
        this.rules = rules;
        this.limit = rules.maxNewTokens();
    }

    /**
     * Starts the clock; before the prompt is computed.
     *
     * @param prompt tokens of the prompt
     * @param cached how many of them need no computing
     * @param room tokens that the context can hold behind the prompt; one more can be generated, as nothing is computed behind it
     */
    public void begin(int prompt, int cached, int room) {
        promptTokens = prompt;
        cachedTokens = cached;
        limit = (int) Math.min(rules.maxNewTokens(), room + 1L);
        began = System.nanoTime();
    }

    /**
     * Takes the next token.
     *
     * @param logits of the last token, {@code [vocab]}, finite; are changed
     * @param history the tokens so far, those of this stream included
     * @return empty when the stream ended without another token; then and when it ends with the token {@link #isFinished()} is
     *     true
     */
    public OptionalInt next(float[] logits, TokenHistory history) {
        long now = System.nanoTime();
        if (prefilled == 0) {
            prefilled = now;
        }
        if (isFinished()) {
            return OptionalInt.empty();
        }
        if (count == limit) {
            finish(FinishReason.LENGTH);
            return OptionalInt.empty();
        }
        int id = sample(logits, history, now);
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
        }
        ids[count++] = id;
        Optional<FinishReason> end = rules.eos().contains(id)
                ? Optional.of(FinishReason.STOP)
                : count == limit ? Optional.of(FinishReason.LENGTH) : Optional.empty();
        Optional<TokenLogprobs> known = rules.logprobs() < 0 ? Optional.empty() : Optional.of(logprobs.getLast());
        boolean goOn = rules.onToken().test(new NewToken(id, end, known));
        if (!goOn) {
            finish(FinishReason.STOP);
        } else {
            end.ifPresent(this::finish);
        }
        return OptionalInt.of(id);
    }

    /** Tokens that may still come. */
    int remaining() {
        return limit - count;
    }

    private int sample(float[] logits, TokenHistory history, long now) {
        SamplingEvent event = new SamplingEvent();
        event.begin();
        float[] untouched = rules.logprobs() < 0 ? logits : logits.clone();
        int id = rules.sampler().sample(logits, history);
        if (rules.logprobs() >= 0) {
            logprobs.add(TokenLogprobs.of(untouched, id, rules.logprobs()));
        }
        event.token = id;
        event.commit();
        samplingNanos += System.nanoTime() - now;
        return id;
    }

    /** Whether the stream has ended. A cancellation is noticed here. */
    public boolean isFinished() {
        if (reason.isEmpty() && (cancelled || rules.cancelled().getAsBoolean())) {
            finish(FinishReason.CANCELLED);
        }
        return reason.isPresent();
    }

    /** Ends the stream before its next token; from any thread. */
    public void cancel() {
        cancelled = true;
    }

    /** Ends the stream with {@link FinishReason#ERROR}, unless it has ended already; what was generated stays. */
    public void fail() {
        if (reason.isEmpty()) {
            finish(FinishReason.ERROR);
        }
    }

    private void finish(FinishReason why) {
        reason = Optional.of(why);
        ended = System.nanoTime();
    }

    /** Tokens so far; the end-of-sequence token is the last of them where it ended the stream. */
    public int[] ids() {
        return Arrays.copyOf(ids, count);
    }

    /** One for each of {@link #ids()}, or none when none were asked for. */
    public List<TokenLogprobs> logprobs() {
        return List.copyOf(logprobs);
    }

    /**
     * Why the stream ended.
     *
     * @throws IllegalStateException while it has not
     */
    public FinishReason reason() {
        return reason.orElseThrow(() -> new IllegalStateException("the stream has not ended yet"));
    }

    /** Figures so far. */
    public GenerationStats stats() {
        long end = reason.isPresent() ? ended : System.nanoTime();
        long first = prefilled == 0 ? end : prefilled;
        return new GenerationStats(promptTokens, cachedTokens, count, first - began, end - first, samplingNanos);
    }
}
