package dev.torchane;

/**
 * The embedding of a text.
 *
 * @param vector one number for each dimension; belongs to the caller
 * @param tokens that were computed, special ones included
 * @param cut tokens that were left out because the text is longer than the model takes
 */
public record Embedding(float[] vector, int tokens, int cut) {

    /**
     * The cosine of the angle to another: 1 for the same direction, 0 for none in common.
     *
     * @throws IllegalArgumentException when the other has another number of dimensions
     */
    public double similarity(Embedding other) {
        float[] theirs = Arguments.given(other, "other").vector;
        if (theirs.length != vector.length) {
            throw new IllegalArgumentException("embeddings of " + vector.length + " and of " + theirs.length
                    + " dimensions have no similarity: they are of different models");
        }
        double product = 0;
        double own = 0;
        double their = 0;
        for (int i = 0; i < vector.length; i++) {
            product += (double) vector[i] * theirs[i];
            own += (double) vector[i] * vector[i];
            their += (double) theirs[i] * theirs[i];
        }
        return own == 0 || their == 0 ? 0 : product / Math.sqrt(own * their);
    }
}
