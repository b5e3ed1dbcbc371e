package dev.torchane;

/**
 * A generation failed on its way: the engine, the logits, a sampling step or a listener. {@link #partial()} has what was generated before;
 * the cause is what went wrong. What is wrong with the prompt is refused before anything is computed, with an exception of its
 * own kind.
 */
public final class GenerationException extends TorchAneException {

    private final transient Generation partial;

    GenerationException(Generation partial, RuntimeException cause) {
        super("the generation failed after " + partial.ids().length + " tokens: " + problem(cause), cause);
        this.partial = partial;
    }

    private static String problem(RuntimeException cause) {
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    /** What was generated before, with the reason {@link dev.torchane.llm.FinishReason#ERROR}. */
    public Generation partial() {
        return partial;
    }
}
