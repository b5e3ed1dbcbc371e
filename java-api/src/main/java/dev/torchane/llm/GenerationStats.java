package dev.torchane.llm;

/**
 * Figures of one generation.
 *
 * @param promptTokens tokens before the first new one
 * @param cachedTokens how many of them were in the state already
 * @param newTokens tokens generated
 * @param prefillNanos from the beginning to the first logits
 * @param decodeNanos from the first logits to the end
 * @param samplingNanos how much of that went into choosing tokens: grammar, sampling, logprobs
 */
public record GenerationStats(
        int promptTokens, int cachedTokens, int newTokens, long prefillNanos, long decodeNanos, long samplingNanos) {

    /** Prompt tokens computed per second. */
    public double prefillPerSecond() {
        return prefillNanos == 0 ? 0 : (promptTokens - cachedTokens) * 1e9 / prefillNanos;
    }

    /** New tokens per second after the first, each of which cost one step. */
    public double decodePerSecond() {
        return decodeNanos == 0 || newTokens < 2 ? 0 : (newTokens - 1) * 1e9 / decodeNanos;
    }
}
