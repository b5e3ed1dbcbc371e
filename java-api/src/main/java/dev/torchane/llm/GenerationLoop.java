package dev.torchane.llm;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/**
 * The loop of one stream: feed the prompt, then sample and feed one token at a time. Each {@link #step()} gives one token, so that a
 * caller may run it to the end, pull tokens when it wants them, or leave off.
 */
public final class GenerationLoop {

    private final LanguageModel model;
    private final KvState state;
    private final TokenStream stream;
    private final IntConsumer prefillProgress;
    private final TokenHistory history;
    private Optional<Speculation> speculation = Optional.empty();
    private int[] pending;
    private boolean prefilled;

    /**
     * Goes on behind what the state already holds. Computes nothing yet.
     *
     * @param prompt ids to append first, at least one
     * @param prefillProgress hears how many prompt tokens are done
     * @throws IllegalArgumentException when the prompt is empty, or has an id outside the vocabulary
     * @throws ContextOverflowException when the prompt alone does not fit
     */
    public GenerationLoop(
            LanguageModel model, KvState state, int[] prompt, TokenStream stream, IntConsumer prefillProgress) {
        model.requireFeedable(state, prompt);
        this.model = model;
        this.state = state;
        this.stream = stream;
        this.prefillProgress = prefillProgress;
        this.pending = prompt.clone();
        int end = state.position() + prompt.length;
        this.history = state.history(end);
        stream.begin(end, state.position(), model.shape().maxLen() - end);
    }

    /**
     * Goes on to a context that is given whole: what the state holds of it already is kept, the rest of the state is forgotten.
     *
     * @param context ids, at least one
     * @param prefillProgress hears how many of them are done, those that were kept included
     * @throws IllegalArgumentException when there are no ids, or one is outside the vocabulary; the state is then as before
     * @throws ContextOverflowException when they do not fit; the state is then as before
     */
    public static GenerationLoop reusing(
            LanguageModel model, KvState state, int[] context, TokenStream stream, IntConsumer prefillProgress) {
        model.requireFeedable(0, context);
        int kept = state.keepCommonPrefix(context);
        return new GenerationLoop(
                model,
                state,
                Arrays.copyOfRange(context, kept, context.length),
                stream,
                done -> prefillProgress.accept(kept + done));
    }

    /**
     * Tokens that stood behind the last ones before are computed beside the next one from here on, where that pays. Changes no token
     * on an engine whose rows do not depend on each other. Without batch functions, whose rows all have logits, it changes nothing.
     *
     * @return this loop
     */
    public GenerationLoop speculate() {
        return speculate(new PromptLookup());
    }

    /** As {@link #speculate()}, with tokens that somebody else proposes. */
    public GenerationLoop speculate(Proposals proposals) {
        if (model.hasBatch()) {
            speculation = Optional.of(new Speculation(model.batchSize(), proposals));
        }
        return this;
    }

    /**
     * Computes what is pending and takes the next token.
     *
     * @return whether there is more to come; false when the stream has ended, with this token or before it
     */
    public boolean step() {
        if (stream.isFinished()) {
            return false;
        }
        Optional<float[]> logits = prefilled ? speculated().or(this::fed) : fed();
        if (logits.isEmpty()) {
            return false;
        }
        prefilled = true;
        OptionalInt id = stream.next(logits.get(), history);
        id.ifPresent(token -> pending = new int[] {token});
        return !stream.isFinished();
    }

    private Optional<float[]> fed() {
        long began = System.nanoTime();
        Optional<float[]> logits = model.feedWhile(state, pending, done -> {
            if (!prefilled) {
                prefillProgress.accept(done);
            }
            return !stream.isFinished();
        });
        if (prefilled) {
            speculation.ifPresent(each -> each.stepped(System.nanoTime() - began));
        }
        return logits;
    }

    /** Logits that are known already, or come with those of proposed tokens. */
    private Optional<float[]> speculated() {
        if (speculation.isEmpty() || pending.length != 1) {
            return Optional.empty();
        }
        Speculation own = speculation.get();
        Optional<float[]> known = own.after(pending[0]);
        if (known.isPresent()) {
            state.advance(state.position() + 1);
            return known;
        }
        int room = Math.min(stream.remaining() - 1, model.room(state) - 1);
        long began = System.nanoTime();
        int[] proposed = usable(own.propose(history, pending[0], room), room);
        if (proposed.length == 0) {
            return Optional.empty();
        }
        int[] ids = Arrays.copyOf(pending, 1 + proposed.length);
        System.arraycopy(proposed, 0, ids, 1, proposed.length);
        Optional<float[][]> logits = model.feedEach(state, ids);
        if (logits.isEmpty()) {
            pending = lost();
            speculation = Optional.empty();
            return Optional.empty();
        }
        return Optional.of(own.computed(proposed, logits.get(), System.nanoTime() - began));
    }

    /** Proposals up to the first that is no token of this model. */
    private int[] usable(int[] proposed, int room) {
        int count = 0;
        while (count < Math.min(proposed.length, room)
                && proposed[count] >= 0
                && proposed[count] < model.shape().vocab()) {
            count++;
        }
        return Arrays.copyOf(proposed, count);
    }

    /** Forgets what may be no number, and answers the tokens that went with it, before the pending one. */
    private int[] lost() {
        int[] tokens = state.tokens();
        state.trim(tokens.length);
        int[] again = Arrays.copyOfRange(tokens, state.position(), tokens.length + 1);
        again[again.length - 1] = pending[0];
        return again;
    }

    /** Steps until the stream has ended. */
    public void run() {
        while (step()) {
            // each step is one token
        }
    }
}
