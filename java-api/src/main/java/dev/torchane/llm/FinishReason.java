package dev.torchane.llm;

/** Why a generation ended. */
public enum FinishReason {
    /** The model emitted an end-of-sequence token. */
    STOP,
    /** The limit on new tokens, or the context's end, was reached. */
    LENGTH,
    /** The caller stopped it. */
    CANCELLED
}
