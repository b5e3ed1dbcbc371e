package dev.torchane.llm;

import dev.torchane.TorchAneException;

/** More tokens than the model was built for. Nothing was computed; the state is as before. */
public final class ContextOverflowException extends TorchAneException {

    private final int tokens;
    private final int limit;

    ContextOverflowException(int tokens, int limit) {
        super("the context would have " + tokens + " tokens; this model was built for maxLen " + limit
                + ": rebuild with maxLen(" + tokens + ") or more, or shorten the prompt");
        this.tokens = tokens;
        this.limit = limit;
    }

    private ContextOverflowException(int tokens, int limit, int characters) {
        super("a prompt of " + characters + " characters has more than " + tokens
                + " tokens; this model was built for maxLen " + limit + ": shorten it");
        this.tokens = tokens;
        this.limit = limit;
    }

    /**
     * A prompt whose text alone shows that it cannot fit.
     *
     * @param characters of the prompt
     * @param tokens that it has at least
     * @param limit tokens the model was built for
     */
    public static ContextOverflowException ofText(int characters, int tokens, int limit) {
        return new ContextOverflowException(tokens, limit, characters);
    }

    /** Tokens the context would have; where they were not counted, the least it could be. */
    public int tokens() {
        return tokens;
    }

    /** Tokens the model was built for. */
    public int limit() {
        return limit;
    }
}
