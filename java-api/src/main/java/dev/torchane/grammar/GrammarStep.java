package dev.torchane.grammar;

import dev.torchane.llm.LogitsStep;
import dev.torchane.llm.TokenHistory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * Holds one generation to a grammar: excludes every token after which the output could not be completed any more. Put it before
 * the steps that choose among the likely tokens (top-k and the like), which might otherwise leave only tokens that are not
 * allowed. Reads what was generated from the history, so it needs no call besides {@link #apply}; one step serves one generation.
 */
public final class GrammarStep implements LogitsStep {

    private static final int TAIL = 60;

    private final GrammarMasks masks;
    private GrammarState state;
    private boolean ended;
    private int generated;
    private int lastToken = -1;

    GrammarStep(GrammarMasks masks) {
        this.masks = masks;
        this.state = masks.grammar().start();
    }

    /**
     * Sets the logits of tokens that are not allowed to negative infinity; of ids beyond the vocabulary too. After an EOS only EOS
     * is allowed.
     *
     * @throws IllegalStateException if no token is allowed (the vocabulary lacks the bytes), if all allowed ones were excluded
     *     before, or if the history holds a token that the grammar did not allow
     */
    @Override
    public void apply(float[] logits, TokenHistory history) {
        follow(history);
        Vocabulary vocabulary = masks.vocabulary();
        if (logits.length < vocabulary.size()) {
            throw new IllegalStateException("there are " + logits.length + " logits for a vocabulary of "
                    + vocabulary.size() + " tokens: build the masks from this model's tokenizer");
        }
        long[] mask = ended ? eosOnly() : masks.mask(state);
        boolean allowed = false;
        boolean left = false;
        for (int id = 0; id < logits.length; id++) {
            if (id < vocabulary.size() && (mask[id >> 6] >>> id & 1) != 0) {
                allowed = true;
                left |= logits[id] != Float.NEGATIVE_INFINITY;
            } else {
                logits[id] = Float.NEGATIVE_INFINITY;
            }
        }
        if (!allowed) {
            throw new IllegalStateException("no token of the vocabulary continues " + tail(history)
                    + " as the grammar demands: the vocabulary lacks bytes that the grammar needs");
        }
        if (!left) {
            throw new IllegalStateException(
                    "every token that the grammar allows after " + tail(history)
                            + " was excluded by an earlier step: put the grammar before the other steps, and do not ban its tokens");
        }
    }

    /** Whether the output so far, as of the last {@link #apply}, is whole. */
    public boolean isComplete() {
        return ended || state.isComplete();
    }

    private long[] eosOnly() {
        long[] mask = new long[masks.vocabulary().size() + 63 >> 6];
        masks.vocabulary().eos().forEach(id -> mask[id >> 6] |= 1L << id);
        return mask;
    }

    /** Advances over new tokens; a history that was cut or replaced is read again from the prompt on. */
    private void follow(TokenHistory history) {
        int size = history.size() - history.promptSize();
        if (size < generated || generated > 0 && history.at(history.promptSize() + generated - 1) != lastToken) {
            state = masks.grammar().start();
            ended = false;
            generated = 0;
        }
        while (generated < size) {
            int id = history.at(history.promptSize() + generated);
            accept(id, generated);
            lastToken = id;
            generated++;
        }
    }

    private void accept(int id, int position) {
        Vocabulary vocabulary = masks.vocabulary();
        if (id < 0 || id >= vocabulary.size()) {
            throw new IllegalStateException("generated token " + id + " lies outside the vocabulary of "
                    + vocabulary.size() + " tokens that the grammar was given");
        }
        if (vocabulary.isEos(id) && isComplete()) {
            ended = true;
            return;
        }
        byte[] bytes = vocabulary.bytes(id);
        GrammarState after = state.accept(bytes);
        if (ended || bytes.length == 0 || after.isDead()) {
            throw new IllegalStateException("generated token " + position + " (id " + id + ", " + quoted(bytes)
                    + ") is not allowed by the grammar: use a new step for each generation");
        }
        state = after;
    }

    /** The end of what was generated, for messages. */
    private String tail(TokenHistory history) {
        ArrayDeque<byte[]> tokens = new ArrayDeque<>();
        int length = 0;
        for (int i = history.size() - 1; i >= history.promptSize() && length < TAIL; i--) {
            tokens.push(masks.vocabulary().bytes(history.at(i)));
            length += tokens.peek().length;
        }
        byte[] joined = new byte[length];
        int at = 0;
        for (byte[] token : tokens) {
            System.arraycopy(token, 0, joined, at, token.length);
            at += token.length;
        }
        return quoted(joined);
    }

    private static String quoted(byte[] bytes) {
        return "\"" + new String(bytes, StandardCharsets.UTF_8) + "\"";
    }
}
