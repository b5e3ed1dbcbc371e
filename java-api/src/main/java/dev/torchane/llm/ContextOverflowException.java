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

    /** Tokens the context would have. */
    public int tokens() {
        return tokens;
    }

    /** Tokens the model was built for. */
    public int limit() {
        return limit;
    }
}
