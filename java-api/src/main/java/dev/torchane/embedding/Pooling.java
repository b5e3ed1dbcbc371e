package dev.torchane.embedding;

import java.util.Locale;

/** How the hidden states of a text's tokens become one vector. */
public enum Pooling {
    /** That of the first token. */
    CLS,
    /** The mean of all. */
    MEAN,
    /** The largest of all, in each dimension. */
    MAX,
    /** The sum of all over the root of their number. */
    MEAN_SQRT_LEN,
    /** The mean of all, weighted by their place: the last token counts most. */
    WEIGHTED_MEAN,
    /** That of the last token. */
    LAST;

    /** The name in files: {@code mean}, {@code mean_sqrt_len}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The vector of a text.
     *
     * @param states {@code [tokens][hidden]}, one after the other; there may be more behind
     * @param tokens at least 1
     */
    public float[] pool(float[] states, int tokens, int hidden) {
        float[] pooled = new float[hidden];
        switch (this) {
            case CLS -> System.arraycopy(states, 0, pooled, 0, hidden);
            case LAST -> System.arraycopy(states, (tokens - 1) * hidden, pooled, 0, hidden);
            case MAX -> {
                System.arraycopy(states, 0, pooled, 0, hidden);
                for (int i = hidden; i < tokens * hidden; i++) {
                    pooled[i % hidden] = Math.max(pooled[i % hidden], states[i]);
                }
            }
            case MEAN, MEAN_SQRT_LEN, WEIGHTED_MEAN -> mean(states, tokens, hidden, pooled);
        }
        return pooled;
    }

    private void mean(float[] states, int tokens, int hidden, float[] pooled) {
        double divisor = switch (this) {
            case MEAN_SQRT_LEN -> Math.sqrt(tokens);
            case WEIGHTED_MEAN -> tokens * (tokens + 1) / 2.0;
            default -> tokens;
        };
        for (int d = 0; d < hidden; d++) {
            double sum = 0;
            for (int token = 0; token < tokens; token++) {
                double weight = this == WEIGHTED_MEAN ? token + 1 : 1;
                sum += weight * states[token * hidden + d];
            }
            pooled[d] = (float) (sum / divisor);
        }
    }
}
