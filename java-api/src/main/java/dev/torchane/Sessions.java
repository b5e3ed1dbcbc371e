package dev.torchane;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Who uses a model: the model's own calls and its sessions. What they share is freed when the last of them is done with it. */
final class Sessions {

    private final Runnable free;
    private final Set<Session> open = new HashSet<>();
    private int users = 1;
    private boolean closed;

    /**
     * @param free runs once, when the model and every session are closed and no call of theirs runs any more
     */
    Sessions(Runnable free) {
        this.free = free;
    }

    /** @throws IllegalStateException when the model is closed */
    void add(Session session) {
        synchronized (this) {
            if (!closed) {
                users++;
                open.add(session);
                return;
            }
        }
        throw new IllegalStateException("this model is closed");
    }

    /** One of the users is done. */
    void release() {
        boolean last;
        synchronized (this) {
            users--;
            last = users == 0;
        }
        if (last) {
            free.run();
        }
    }

    synchronized void remove(Session session) {
        open.remove(session);
    }

    /** Closes every session and refuses further ones. */
    void close() {
        List<Session> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(open);
        }
        left.forEach(Session::close);
    }
}
