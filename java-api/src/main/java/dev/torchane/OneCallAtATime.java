package dev.torchane;

import java.util.function.Supplier;

/** Lets one call at a time use something that can be closed from any thread; it is freed when no call uses it any more. */
final class OneCallAtATime {

    private final Runnable free;
    private boolean busy;
    private volatile boolean closed;

    /**
     * @param free runs once, after {@link #close()} and after the call that was running then
     */
    OneCallAtATime(Runnable free) {
        this.free = free;
    }

    /**
     * Runs a call.
     *
     * @throws IllegalStateException after {@link #close()}, while another call runs, or when the call failed because of a close
     */
    <T> T run(Supplier<T> call) {
        enter();
        try {
            return call.get();
        } catch (IllegalStateException e) {
            throw closed ? new IllegalStateException("this model was closed while a call was running", e) : e;
        } finally {
            if (leave()) {
                free.run();
            }
        }
    }

    /** @throws IllegalStateException when it is closed */
    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("this model is closed");
        }
    }

    /**
     * Refuses further calls.
     *
     * @param stop makes a running call fail; runs once
     */
    void close(Runnable stop) {
        boolean now;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            now = !busy;
        }
        stop.run();
        if (now) {
            free.run();
        }
    }

    private synchronized void enter() {
        requireOpen();
        if (busy) {
            throw new IllegalStateException("this model is in use by another call (a second thread, or a listener that"
                    + " calls back): wait for that call to end, or open the bundle again for a context of its own");
        }
        busy = true;
    }

    /** Whether it was closed meanwhile. */
    private synchronized boolean leave() {
        busy = false;
        return closed;
    }
}
