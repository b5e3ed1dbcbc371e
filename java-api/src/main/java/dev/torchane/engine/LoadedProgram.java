package dev.torchane.engine;

import java.util.Set;

/**
 * A program ready to run. Immutable and safe to share between threads; what changes lives in {@link State}.
 *
 * <p>{@link #close()} is idempotent; use after it is an {@link IllegalStateException}, also for a call that is running on
 * another thread when it happens: that call finishes or fails, and never touches freed memory.
 */
public interface LoadedProgram extends AutoCloseable {

    /** Names of the functions. */
    Set<String> functions();

    /**
     * A function by name.
     *
     * @throws IllegalArgumentException when there is none
     */
    LoadedFunction function(String name);

    /** What runs it, for people: hardware, or an interpreter that stands for it. */
    default String runsOn() {
        return "the CPU, in Java";
    }

    /** Lets weights leave memory that can be read from the bundle again; the next call does that. Engines may ignore it. */
    default void releaseWeights() {}

    @Override
    void close();
}
