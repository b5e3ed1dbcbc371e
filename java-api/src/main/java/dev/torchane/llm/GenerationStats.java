package dev.torchane.llm;

/**
 * Figures of one generation.
 *
 * @param promptTokens tokens fed before the first new one
 * @param newTokens tokens generated
 * @param prefillNanos from the call to the first logits
 * @param decodeNanos from the first logits to the end
 */
public record GenerationStats(int promptTokens, int newTokens, long prefillNanos, long decodeNanos) {

    /** Prompt tokens per second. */
    public double prefillPerSecond() {
        return prefillNanos == 0 ? 0 : promptTokens * 1e9 / prefillNanos;
    }

    /** New tokens per second after the first, each of which cost one step. */
    public double decodePerSecond() {
        return decodeNanos == 0 || newTokens < 2 ? 0 : (newTokens - 1) * 1e9 / decodeNanos;
    }
}
