package dev.torchane;

import java.util.List;

/**
 * Generations of a batch failed on their way; the others ran to their end. The first failure is the cause, others are suppressed
 * exceptions.
 */
public final class BatchException extends TorchAneException {

    private final transient List<Generation> results;

    BatchException(List<Generation> results, List<GenerationException> failures) {
        super(
                failures.size() + " of " + results.size() + " generations of the batch failed; the first: "
                        + failures.getFirst().getMessage(),
                failures.getFirst());
        this.results = List.copyOf(results);
        failures.stream().skip(1).forEach(this::addSuppressed);
    }

    /** One for each request; those that failed have the reason {@link dev.torchane.llm.FinishReason#ERROR} and what there was. */
    public List<Generation> results() {
        return results;
    }
}
