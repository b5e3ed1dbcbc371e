package dev.torchane.llm;

/**
 * A token and the natural logarithm of the probability that the model gave it.
 *
 * @param id token
 * @param value at most 0
 */
public record Logprob(int id, double value) {}
