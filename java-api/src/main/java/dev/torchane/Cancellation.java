package dev.torchane;

/** Stops generations from any thread: each that was given it ends with what it has, within one step. */
public final class Cancellation {

    private volatile boolean cancelled;

    /** Stops them; those that begin later too. */
    public void cancel() {
        cancelled = true;
    }

    /** Whether {@link #cancel()} was called. */
    public boolean isCancelled() {
        return cancelled;
    }
}
