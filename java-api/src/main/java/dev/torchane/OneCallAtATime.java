package dev.torchane;

import java.util.function.Supplier;

/**
 * Lets one call at a time use something that can be closed from any thread; it is freed when no call uses it any more. A call may
 * be one piece ({@link #run}) or go on for a while ({@link #claim}).
 */
final class OneCallAtATime {

    private final String what;
    private final Runnable free;
    private Claim holder;
    private volatile boolean closed;

    /** For a model. */
    OneCallAtATime(Runnable free) {
        this("model", free);
    }

    /**
     * @param what is used, for messages
     * @param free runs once, after {@link #close} and after the call that was running then
     */
    OneCallAtATime(String what, Runnable free) {
        this.what = what;
        this.free = free;
    }

    /** The right to use it, until released. */
    final class Claim {

        private Thread user;
        private boolean ending;

        private Claim() {}

        /**
         * Runs a piece of the call.
         *
         * @throws IllegalStateException after {@link OneCallAtATime#close}
         */
        <T> T use(Supplier<T> piece) {
            requireOpen();
            return held(piece);
        }

        /** As {@link #use}, what is left to do after a close too. */
        <T> T held(Supplier<T> piece) {
            synchronized (OneCallAtATime.this) {
                user = Thread.currentThread();
            }
            try {
                return piece.get();
            } finally {
                synchronized (OneCallAtATime.this) {
                    user = null;
                }
            }
        }

        /** Says that it will be released within a step: who wants it then waits instead of being refused. */
        void ending() {
            synchronized (OneCallAtATime.this) {
                ending = true;
            }
        }

        /** Idempotent. */
        void release() {
            boolean last;
            synchronized (OneCallAtATime.this) {
                if (holder != this) {
                    return;
                }
                holder = null;
                OneCallAtATime.this.notifyAll();
                last = closed;
            }
            if (last) {
                free.run();
            }
        }
    }

    /**
     * Begins a call that goes on until its claim is released.
     *
     * @throws IllegalStateException after {@link #close}, or while another call runs
     */
    synchronized Claim claim() {
        requireOpen();
        boolean interrupted = false;
        while (holder != null && holder.ending && holder.user != Thread.currentThread()) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        requireOpen();
        if (holder != null) {
            throw new IllegalStateException(
                    "this " + what + " is in use by another call (a second thread, a listener that calls"
                            + " back, or a stream that was neither read to its end nor closed): wait for that call to end, or take"
                            + " a session of its own (newSession)");
        }
        holder = new Claim();
        return holder;
    }

    /**
     * Runs a call.
     *
     * @throws IllegalStateException after {@link #close}, while another call runs, or when the call failed because of a close
     */
    <T> T run(Supplier<T> call) {
        Claim claim = claim();
        try {
            return claim.use(call);
        } catch (RuntimeException e) {
            throw explained(e);
        } finally {
            claim.release();
        }
    }

    /** What a failure means to the caller when {@link #close} may have caused it. */
    RuntimeException explained(RuntimeException failure) {
        return closed ? closedMeanwhile(failure) : failure;
    }

    private IllegalStateException closedMeanwhile(RuntimeException failure) {
        return new IllegalStateException("this " + what + " was closed while a call was running", failure);
    }

    /** @throws IllegalStateException when it is closed */
    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("this " + what + " is closed");
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
            now = holder == null;
        }
        stop.run();
        if (now) {
            free.run();
        }
    }
}
