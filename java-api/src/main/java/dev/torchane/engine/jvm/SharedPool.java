package dev.torchane.engine.jvm;

import java.util.HashMap;
import java.util.Map;

/**
 * A program's share of a pool. All programs of a process that want the same number of threads share one pool, so that two models do not
 * keep twice as many threads as there are cores; it ends with the last of them.
 */
final class SharedPool implements AutoCloseable {

    private static final Map<Integer, Counted> POOLS = new HashMap<>();

    private static final class Counted {
        private final WorkerPool pool;
        private int leases;

        private Counted(WorkerPool pool) {
            this.pool = pool;
        }
    }

    private final Counted counted;
    private boolean closed;

    private SharedPool(Counted counted) {
        this.counted = counted;
    }

    /** A share of the pool in which {@code threads} threads work. */
    static SharedPool lease(int threads) {
        synchronized (POOLS) {
            Counted counted = POOLS.computeIfAbsent(threads, count -> new Counted(new WorkerPool(count)));
            counted.leases++;
            return new SharedPool(counted);
        }
    }

    WorkerPool pool() {
        return counted.pool;
    }

    /** Gives the share back. Idempotent. */
    @Override
    public void close() {
        synchronized (POOLS) {
            if (closed) {
                return;
            }
            closed = true;
            if (--counted.leases == 0) {
                POOLS.remove(counted.pool.threads());
                counted.pool.close();
            }
        }
    }
}
