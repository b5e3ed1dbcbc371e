package dev.torchane.llm;

/** The embedding table, looked up on the CPU. */
@FunctionalInterface
public interface Embedding {

    /** Writes the row of token {@code id}, which is within the vocabulary, into {@code row} ({@code [hidden]}). */
    void lookup(int id, float[] row);
}
