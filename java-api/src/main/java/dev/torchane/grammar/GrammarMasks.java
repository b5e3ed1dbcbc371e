package dev.torchane.grammar;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which tokens of a vocabulary a grammar allows in each of its states. Computed once per state, and once for all
 * states that a single token cannot tell apart; kept for the states used last; safe for use by several threads and by any number of generations.
 */
public final class GrammarMasks {

    private static final int MAX_BYTES_KEPT = 16 << 20;

    private final Grammar grammar;
    private final Vocabulary vocabulary;
    private final Map<GrammarState, long[]> kept = new LinkedHashMap<>(64, 0.75f, true);
    private final int maxKept;
    private long computed;

    /** Joins a grammar with a vocabulary; computes nothing yet. */
    public GrammarMasks(Grammar grammar, Vocabulary vocabulary) {
        this.grammar = grammar;
        this.vocabulary = vocabulary;
        this.maxKept = Math.clamp(MAX_BYTES_KEPT / (8L * words()), 16, 4096);
    }

    /** Walks over the vocabulary so far. */
    long computed() {
        synchronized (kept) {
            return computed;
        }
    }

    private int words() {
        return vocabulary.size() + 63 >> 6;
    }

    Grammar grammar() {
        return grammar;
    }

    Vocabulary vocabulary() {
        return vocabulary;
    }

    /**
     * The tokens after which the output can still be completed, as a set of bits: token {@code id} is bit {@code id % 64} of word
     * {@code id / 64}. EOS tokens belong to it exactly if the state is complete; other special tokens never do.
     *
     * @param state one of this grammar's states
     * @return {@code [ceil(vocab / 64)]}, the caller's own
     */
    public long[] allowed(GrammarState state) {
        return mask(state).clone();
    }

    /** As {@link #allowed}, shared: not to be changed. */
    long[] mask(GrammarState state) {
        if (state.automaton() != grammar.start().automaton()) {
            throw new IllegalArgumentException("the state belongs to another grammar");
        }
        long[] known = kept(state);
        if (known != null) {
            return known;
        }
        GrammarState alike = state.automaton().withinReach(state, vocabulary.longest());
        known = alike == state ? null : kept(alike);
        if (known != null) {
            return known;
        }
        long[] mask = new long[words()];
        vocabulary.markAllowed(alike, mask);
        if (state.isComplete()) {
            vocabulary.eos().forEach(id -> mask[id >> 6] |= 1L << id);
        }
        synchronized (kept) {
            computed++;
            kept.put(alike, mask);
            if (kept.size() > maxKept) {
                kept.remove(kept.keySet().iterator().next());
            }
        }
        return mask;
    }

    private long[] kept(GrammarState state) {
        synchronized (kept) {
            return kept.get(state);
        }
    }

    /** The step that holds one generation to the grammar. */
    public GrammarStep newStep() {
        return new GrammarStep(this);
    }
}
