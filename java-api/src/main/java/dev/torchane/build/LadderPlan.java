package dev.torchane.build;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The windows and rungs of one model's program.
 *
 * @param maxLen largest context in tokens
 * @param prefillWindow rows of a prefill window, at most the first rung
 * @param rungs contexts that have functions of their own, ascending, multiples of the decode window; the last one is maxLen
 *     rounded up
 */
public record LadderPlan(int maxLen, int prefillWindow, List<Integer> rungs) {

    private static final int DEFAULT_MAX_LEN = 2048;

    public LadderPlan {
        rungs = List.copyOf(rungs);
    }

    /**
     * What the options mean for a model.
     *
     * @param modelLimit tokens the model was trained for (its {@code max_position_embeddings})
     * @throws IllegalArgumentException when maxLen is larger than that
     */
    public static LadderPlan of(BuildOptions options, int modelLimit) {
        if (options.maxLen() > modelLimit) {
            throw new IllegalArgumentException(
                    "maxLen(" + options.maxLen() + ") is larger than the model's own limit of " + modelLimit
                            + " tokens: choose maxLen(" + modelLimit + ") or less");
        }
        int maxLen = options.maxLen() > 0 ? options.maxLen() : Math.min(DEFAULT_MAX_LEN, modelLimit);
        int top = roundUp(maxLen);
        int prefill = Math.min(options.prefillWindow(), top);
        List<Integer> rungs = IntStream.concat(
                        options.ladder().stream()
                                .mapToInt(LadderPlan::roundUp)
                                .filter(rung -> rung >= prefill && rung < top),
                        IntStream.of(top))
                .sorted()
                .distinct()
                .boxed()
                .toList();
        return new LadderPlan(maxLen, prefill, rungs);
    }

    private static int roundUp(int tokens) {
        return Math.ceilDiv(tokens, BuildOptions.DECODE_WINDOW) * BuildOptions.DECODE_WINDOW;
    }
}
