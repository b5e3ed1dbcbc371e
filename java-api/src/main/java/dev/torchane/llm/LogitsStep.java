package dev.torchane.llm;

/** One step of a sampler's chain: changes logits in place. */
@FunctionalInterface
public interface LogitsStep {

    /**
     * @param logits {@code [vocab]}; negative infinity excludes a token, and at least one must stay finite
     * @param history what came before
     */
    void apply(float[] logits, TokenHistory history);
}
