package dev.torchane.text;

/** What a template may use up: it comes from whoever published the model. */
final class JinjaLimits {

    static final int OUTPUT = 64 << 20;
    static final int DEPTH = 150;
    static final int RANGE = 100_000;
    private static final long NANOSECONDS = 10_000_000_000L;
    private static final int CHECK_EVERY = 1024;

    private final long deadline = System.nanoTime() + NANOSECONDS;
    private int steps;
    private int depth;

    /** Counts a step. */
    void step() {
        if (++steps % CHECK_EVERY == 0 && System.nanoTime() - deadline > 0) {
            throw new JinjaError("it takes longer than " + NANOSECONDS / 1_000_000_000L + " s");
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
