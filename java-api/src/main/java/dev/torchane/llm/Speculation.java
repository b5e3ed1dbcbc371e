package dev.torchane.llm;

import java.util.Optional;

/**
 * Tokens that were proposed and computed in one window, and when it is worth proposing. A stream takes its tokens from logits as always;
 * where the token it takes is the one that was proposed, the logits behind it are there already. So a stream's tokens are those
 * without proposals, whatever the sampler, on an engine whose rows do not depend on each other.
 *
 * <p>Windows have as many rows as promise most tokens a second, after what windows took and how often proposals were right: those of
 * windows, and those that were made beside single steps without computing them. What windows lost is never more than a small share
 * of the time that single steps would have taken.
 */
final class Speculation {

    /** What may be lost: a share of the time of single steps, and some steps at the beginning. */
    private static final double LOSS = 0.03;

    private static final double FIRST_STEPS = 3;

    /** How much a new time counts that is longer than those before; a shorter one counts whole. */
    private static final double LONGER = 0.1;

    /** Proposals that are taken to have been seen before any was, and the share of them that was right. */
    private static final double FIRST = 4;

    private static final double FIRST_RIGHT = 0.5;

    /** The share where only windows show how good proposals are, and how much of what was seen still counts one step later. */
    private static final double HOPED_RIGHT = 0.8;

    private static final double STEP_MEMORY = 0.99;

    /** How much of what was seen still counts one proposal later. */
    private static final double MEMORY = 0.9;

    /** Share of a window's time that a step without windows takes off what is expected: a slow one may have been the first of its kind. */
    private static final double HOPE = 0.01;

    /** Windows after which the time of a single step is measured again. */
    private static final int REFRESH = 32;

    private static final int NONE = -1;

    /** What a window of {@code r} rows took, in nanoseconds, at {@code r}; a single step at 1; 0 where none was seen. */
    private final double[] nanos;

    private final Proposals proposals;

    private double seen;
    private double right;
    private double spare;
    private int windows;

    private int guess = NONE;
    private int[] proposed = {};
    private float[][] logits = {};
    private int taken;

    /**
     * @param rows of the longest window
     */
    Speculation(int rows, Proposals proposals) {
        this.nanos = new double[rows + 1];
        this.proposals = proposals;
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
        if (guess != NONE) {
            saw(guess == last);
        }
        int rows = nanos[1] == 0 || windows == REFRESH ? 1 : rows(Math.min(nanos.length - 1, most + 1));
        guess = NONE;
        if (rows > 1) {
            return proposals.propose(history, last, rows - 1);
        }
        if (proposals.free()) {
            int[] next = proposals.propose(history, last, 1);
            guess = next.length > 0 ? next[0] : NONE;
        }
        return new int[0];
    }

    /** Rows of the window that gives most tokens in its time; 1 when that is a single step, or a window could lose too much. */
    private int rows(int most) {
        double first = proposals.free() ? FIRST_RIGHT : HOPED_RIGHT;
        double chance = (right + FIRST * first) / (seen + FIRST);
        int best = 1;
        double tokens = 1;
        double rate = 1 / nanos[1];
        for (int rows = 2; rows <= most; rows++) {
            tokens += Math.pow(chance, rows - 1);
            double time = expected(rows);
            if (tokens / time > rate && time - nanos[1] <= spare) {
                best = rows;
                rate = tokens / time;
            }
        }
        return best;
    }

    /** What a window was seen to take, or one of more rows; twice a step when none was seen. */
    private double expected(int rows) {
        for (int r = rows; r < nanos.length; r++) {
            if (nanos[r] > 0) {
                return nanos[r];
            }
        }
        return 2 * nanos[1];
    }

    /** Says that a step without proposals took some time. */
    void stepped(long time) {
        windows = 0;
        boolean first = nanos[1] == 0;
        measured(1, time);
        spare = first ? FIRST_STEPS * nanos[1] : Math.min(spare + LOSS * nanos[1], mostSpare());
        for (int rows = 2; rows < nanos.length; rows++) {
            nanos[rows] *= 1 - HOPE;
        }
        if (!proposals.free()) {
            right *= STEP_MEMORY;
            seen *= STEP_MEMORY;
        }
    }

    /**
     * Takes the logits of a window, and answers the first.
     *
     * @param ids that were proposed behind its first token
     * @param all of the first token and of each of {@code ids}
     * @param time of the window and of its proposals, in nanoseconds; what is more than twice that of single steps does not count
     */
    float[] computed(int[] ids, float[][] all, long time) {
        proposed = ids;
        logits = all;
        taken = 1;
        windows++;
        long counted = (long) Math.min(time, 2 * all.length * nanos[1]);
        measured(all.length, counted);
        spare -= counted;
        return all[0];
    }

    /** What a window gave is known. */
    private void judge() {
        for (int i = 1; i < taken; i++) {
            saw(true);
        }
        if (taken <= proposed.length) {
            saw(false);
        }
        spare = Math.min(spare + taken * nanos[1] * (1 + LOSS), mostSpare());
        taken = 0;
        logits = new float[0][];
    }

    /** Gains of long ago do not pay for losses now. */
    private double mostSpare() {
        return 2 * FIRST_STEPS * nanos[1];
    }

    private void saw(boolean rightly) {
        seen = MEMORY * seen + 1;
        right = MEMORY * right + (rightly ? 1 : 0);
    }

    private void measured(int rows, long time) {
        double before = nanos[rows];
        nanos[rows] = before == 0 || time < before ? time : (1 - LONGER) * before + LONGER * time;
    }
}
