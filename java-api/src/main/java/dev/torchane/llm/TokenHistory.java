package dev.torchane.llm;

/** The tokens of a stream so far: the prompt, then what was generated. A view that grows. */
public interface TokenHistory {

    /** Tokens in all. */
    int size();

    /** Tokens of the prompt. */
    int promptSize();

    /** The id at a position below {@link #size()}. */
    int at(int position);
}
