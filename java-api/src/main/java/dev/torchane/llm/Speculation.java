package dev.torchane.llm;

import java.util.Optional;

/**
 * Tokens that were proposed and computed in one window, and when it is worth proposing. A stream takes its tokens from logits as always;
 * where the token it takes is the one that was proposed, the logits behind it are there already. So a stream's tokens are those
 * without proposals, whatever the sampler, on an engine whose rows do not depend on each other.
 */
final class Speculation {

    /** Steps without proposals behind proposals that cost more than they gave, at most. */
    private static final int LONGEST_PAUSE = 128;

    private static final int FIRST_PAUSE = 8;

    /** Tokens that must have stood together before, and as many when that was misleading lately. */
    private static final int MATCH = 3;

    private static final int LONGER_MATCH = 6;
    private static final double WEIGHT = 0.2;

    private final int rows;
    private int length;
    private double stepNanos;
    private int pause;
    private int skip;

    private int[] proposed = {};
    private float[][] logits = {};
    private int taken;
    private long windowNanos;

    /**
     * @param rows of a window
     */
    Speculation(int rows) {
        this.rows = rows;
        this.length = rows / 2 - 1;
    }

    /** The logits behind a token, if it was proposed next and they are known. */
    Optional<float[]> after(int id) {
        if (taken == 0 || taken == logits.length) {
            return Optional.empty();
        }
        if (proposed[taken - 1] != id) {
            judge();
            return Optional.empty();
        }
        float[] next = logits[taken++];
        if (taken == logits.length) {
            judge();
        }
        return Optional.of(next);
    }

    /** Ids to compute behind the next token; none when that does not pay. */
    int[] propose(TokenHistory history, int last, int most) {
        if (stepNanos == 0) {
            return new int[0];
        }
        if (skip > 0) {
            skip--;
            return new int[0];
        }
        return PromptLookup.propose(history, last, pause == 0 ? MATCH : LONGER_MATCH, Math.min(length, most));
    }

    /** Says that a step without proposals took some time. */
    void stepped(long nanos) {
        stepNanos = stepNanos == 0 ? nanos : (1 - WEIGHT) * stepNanos + WEIGHT * nanos;
    }

    /**
     * Takes the logits of a window, and answers the first.
     *
     * @param ids that were proposed behind its first token
     * @param all of the first token and of each of {@code ids}
     */
    float[] computed(int[] ids, float[][] all, long nanos) {
        proposed = ids;
        logits = all;
        windowNanos = nanos;
        taken = 1;
        return all[0];
    }

    /** What a window gave is known: longer ones where all of it was taken, none for a while where steps had been faster. */
    private void judge() {
        boolean whole = taken == logits.length;
        length = whole ? rows - 1 : Math.max(1, rows / 2 - 1);
        if (taken * stepNanos < windowNanos) {
            pause = Math.clamp(2L * pause, FIRST_PAUSE, LONGEST_PAUSE);
            skip = pause;
        } else {
            pause /= 4;
        }
        taken = 0;
        logits = new float[0][];
    }
}
