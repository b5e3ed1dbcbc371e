package dev.torchane.llm;

/** Why a generation ended. */
public enum FinishReason {
    /** The model emitted an end-of-sequence token, or its text reached a stop string. */
    STOP,
    /** The limit on new tokens, or the context's end, was reached. */
    LENGTH,
    /** The caller stopped it, or its time was up. */
    CANCELLED,
    /** Something failed; what was generated before is kept. */
    ERROR
}
