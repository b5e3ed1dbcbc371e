package dev.torchane.text;

import java.time.Duration;

/** What a template may use up: it comes from whoever published the model. */
final class JinjaLimits {

    static final int OUTPUT = 64 << 20;
    static final int DEPTH = 150;
    static final int RANGE = 100_000;
    private static final Duration TIME = Duration.ofSeconds(10);
    private static final int CHECK_EVERY = 1024;

    private final Duration time;
    private final long deadline;
    private int steps;
    private int depth;

    JinjaLimits() {
        this(TIME);
    }

    JinjaLimits(Duration time) {
        this.time = time;
        this.deadline = System.nanoTime() + time.toNanos();
    }

    /** Counts a step. */
    void step() {
        if (++steps % CHECK_EVERY == 0 && System.nanoTime() - deadline > 0) {
            throw new JinjaError("it takes longer than " + time.toMillis() + " ms");
        }
    }

    void enter() {
        if (++depth > DEPTH) {
            throw new JinjaError("macros or loops call themselves deeper than " + DEPTH);
        }
    }

    void leave() {
        depth--;
    }

    /** Checks the size of a text before it is made. */
    static void output(long characters) {
        if (characters > OUTPUT) {
            throw new JinjaError("it makes more than " + OUTPUT + " characters");
        }
    }
}
