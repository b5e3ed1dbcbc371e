package dev.torchane.llm;

/** Chooses the next token. */
@FunctionalInterface
public interface Sampler {

    /**
     * @param logits {@code [vocab]}, finite; may be changed
     * @return an id within the vocabulary
     */
    int sample(float[] logits);

    /** The token with the largest logit; the smallest id wins a tie. */
    static Sampler greedy() {
        return logits -> {
            int best = 0;
            for (int i = 1; i < logits.length; i++) {
                if (logits[i] > logits[best]) {
                    best = i;
                }
            }
            return best;
        };
    }
}
