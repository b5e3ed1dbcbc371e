package dev.torchane.engine.jvm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A fixed pool of threads that share the chunks of one task at a time with the thread that gives it.
 *
 * <p>Chunks are claimed one by one, so a worker that the operating system keeps away delays nobody. Workers spin for a
 * moment between tasks, because the next one usually comes within microseconds, and then park.
 */
final class WorkerPool implements AutoCloseable {

    /** Work that can be cut in chunks; chunks may run in any order, on any worker. */
    interface Task {
        /**
         * Runs one chunk.
         *
         * @param chunk from 0
         * @param worker index of the thread's scratch memory; 0 is the calling thread
         */
        void run(Call call, int chunk, int worker);
    }

    private static final long SPIN_NANOS = 60_000;

    /**
     * Looks at what others do before a thread that waits lets the operating system have the core. No pause instruction stands
     * between them: each thread has a core to itself, and under a hypervisor a series of pauses takes the core away for longer than a
     * step of a small model can wait.
     */
    private static final int SPINS = 100_000;

    private final Thread[] workers;
    private final AtomicBoolean[] parked;
    /** Number of the current task (32 bits), its chunks (16 bits), its next unclaimed chunk (16 bits). */
    private final AtomicLong next = new AtomicLong();

    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean owned = new AtomicBoolean();
    private Task task;
    private Call call;
    private volatile Throwable failure;
    private volatile boolean closed;

    /** A pool in which {@code threads} threads work: the caller and {@code threads - 1} daemons. */
    WorkerPool(int threads) {
        workers = new Thread[threads - 1];
        parked = new AtomicBoolean[workers.length];
        for (int i = 0; i < workers.length; i++) {
            int worker = i + 1;
            parked[i] = new AtomicBoolean();
            workers[i] = Thread.ofPlatform()
                    .name("torch-ane-jvm-" + worker)
                    .daemon(true)
                    .unstarted(() -> work(worker));
        }
        for (Thread thread : workers) {
            thread.start();
        }
    }

    int threads() {
        return workers.length + 1;
    }

    /** Takes the pool for this thread; false when another thread has it, whose caller then works alone. */
    boolean tryOwn() {
        return owned.compareAndSet(false, true);
    }

    void disown() {
        owned.set(false);
    }

    /** Runs all chunks (at most 65535) of a task and returns when they are done. Only for the owner. */
    void run(Task newTask, Call newCall, int newChunks) {
        if (newChunks <= 1 || workers.length == 0) {
            for (int chunk = 0; chunk < newChunks; chunk++) {
                newTask.run(newCall, chunk, 0);
            }
            return;
        }
        task = newTask;
        call = newCall;
        failure = null;
        pending.set(newChunks);
        long epoch = ((next.get() >>> 32) + 1) & 0xffff_ffffL;
        next.set(epoch << 32 | (long) newChunks << 16);
        for (int i = 0; i < workers.length; i++) {
            if (parked[i].get()) {
                LockSupport.unpark(workers[i]);
            }
        }
        claim(epoch, 0);
        for (int spins = 0; pending.get() > 0; spins++) {
            if (spins > SPINS) {
                Thread.yield();
            }
        }
        task = null;
        call = null;
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("a worker failed: " + failure, failure);
        }
    }

    private void claim(long epoch, int worker) {
        while (true) {
            long seen = next.get();
            if (seen >>> 32 != epoch) {
                return;
            }
            // Read before the claim: a successful claim proves that they belong to this task.
            Task claimed = task;
            Call claimedCall = call;
            int chunk = (int) (seen & 0xffff);
            if (chunk >= (int) (seen >>> 16 & 0xffff)) {
                return;
            }
            if (next.compareAndSet(seen, seen + 1)) {
                try {
                    claimed.run(claimedCall, chunk, worker);
                } catch (Throwable thrown) {
                    failure = thrown;
                } finally {
                    pending.decrementAndGet();
                }
            }
        }
    }

    private void work(int worker) {
        long done = 0;
        while (!closed) {
            long epoch = awaitTask(done, worker);
            if (epoch != done) {
                claim(epoch, worker);
                done = epoch;
            }
        }
    }

    private long awaitTask(long done, int worker) {
        long start = System.nanoTime();
        while (!closed) {
            for (int spin = 0; spin < 1_000; spin++) {
                long epoch = next.get() >>> 32;
                if (epoch != done) {
                    return epoch;
                }
            }
            if (System.nanoTime() - start > SPIN_NANOS) {
                AtomicBoolean flag = parked[worker - 1];
                flag.set(true);
                if (next.get() >>> 32 == done && !closed) {
                    LockSupport.park(this);
                }
                flag.set(false);
                start = System.nanoTime();
            }
        }
        return done;
    }

    /** Ends the workers; running chunks finish first. */
    @Override
    public void close() {
        closed = true;
        for (Thread thread : workers) {
            LockSupport.unpark(thread);
        }
    }
}
