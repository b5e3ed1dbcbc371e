package dev.torchane.engine.jvm;

/** Counts the users of something that can be closed: it is freed when it is closed and its last user has left. */
final class Lifetime {

    private final String what;
    private final Runnable free;
    private int users;
    private boolean closed;

    Lifetime(String what, Runnable free) {
        this.what = what;
        this.free = free;
    }

    /**
     * Enters as a user; {@link #leave()} must follow.
     *
     * @throws IllegalStateException when it is closed
     */
    synchronized void enter() {
        require();
        users++;
    }

    void leave() {
        boolean last;
        synchronized (this) {
            users--;
            last = closed && users == 0;
        }
        if (last) {
            free.run();
        }
    }

    /** Refuses further users; frees now if there are none. Again: nothing. */
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

    /** @throws IllegalStateException when it is closed */
    synchronized void require() {
        if (closed) {
            throw new IllegalStateException(what + " is closed");
        }
    }
}
