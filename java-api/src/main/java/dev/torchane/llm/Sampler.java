package dev.torchane.llm;

/** Chooses the next token of one stream. May keep state, such as a random generator: one sampler serves one generation. */
@FunctionalInterface
public interface Sampler {

    /**
     * @param logits {@code [vocab]}, finite; may be changed
     * @param history what came before
     * @return an id within the vocabulary
     */
    int sample(float[] logits, TokenHistory history);

    /** The token with the largest logit; the smallest id wins a tie. */
    static Sampler greedy() {
        return (logits, history) -> argmax(logits);
    }

    /** Index of the largest number; the smallest index wins a tie. */
    static int argmax(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }
}
