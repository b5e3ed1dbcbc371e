package dev.torchane;

import java.util.function.Supplier;

/** Lets any number of calls use something that can be closed from any thread; it is freed when no call uses it any more. */
final class SharedUse {

    private final String what;
    private final Runnable free;
    private int users;
    private volatile boolean closed;

    /**
     * @param what is used, for messages
     * @param free runs once, after {@link #close} and after the last call that was running then
     */
    SharedUse(String what, Runnable free) {
        this.what = what;
        this.free = free;
    }

    /**
     * Runs a call.
     *
     * @throws IllegalStateException after {@link #close}
     */
    <T> T run(Supplier<T> call) {
        synchronized (this) {
            requireOpen();
            users++;
        }
        try {
            return call.get();
        } finally {
            boolean last;
            synchronized (this) {
                users--;
                last = closed && users == 0;
            }
            if (last) {
                free.run();
            }
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** @throws IllegalStateException when it is closed */
    synchronized void requireOpen() {
        if (closed) {
            throw new IllegalStateException("this " + what + " is closed");
        }
    }

    /** Refuses further calls; frees now if none is running. Again: nothing. */
    void close() {
        boolean now;
        synchronized (this) {
            now = !closed && users == 0;
            closed = true;
        }
        if (now) {
            free.run();
        }
    }
}
