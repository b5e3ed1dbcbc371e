package dev.torchane.engine.jvm;

/** What one run of a plan works with: memory and threads. Reused from call to call. */
final class Call {

    private static final float[] NONE = {};

    /** Activations; each buffer of the plan has its offset here. */
    float[] arena = NONE;
    /** Arrays of the states in the function's order: {@code float[]} for fp32, {@code short[]} for fp16. */
    Object[] states = {};

    final KernelSet kernels;
    private final float[][] scratch;
    private WorkerPool pool;
    private int[][] columns = {};

    Call(KernelSet kernels, int threads) {
        this.kernels = kernels;
        this.scratch = new float[threads][];
        java.util.Arrays.fill(scratch, NONE);
    }

    /** Gives the call a pool that it owns; null means the calling thread works alone. */
    void attach(WorkerPool owned) {
        pool = owned;
    }

    /** Takes the pool away again; answers whether there was one. */
    boolean detach() {
        boolean had = pool != null;
        pool = null;
        return had;
    }

    /** Runs a task on the pool, or here. */
    void parallel(WorkerPool.Task task, int chunks) {
        if (pool != null) {
            pool.run(task, this, chunks);
        } else {
            for (int chunk = 0; chunk < chunks; chunk++) {
                task.run(this, chunk, 0);
            }
        }
    }

    /** Threads that work on this call. */
    int threads() {
        return pool == null ? 1 : pool.threads();
    }

    /** Scratch memory of a worker with at least {@code size} floats; contents are arbitrary. */
    float[] scratch(int worker, int size) {
        if (scratch[worker].length < size) {
            scratch[worker] = new float[size];
        }
        return scratch[worker];
    }

    /** Integers of a side table, such as the open columns of a mask. */
    int[] table(int index, int size) {
        if (columns.length <= index) {
            columns = java.util.Arrays.copyOf(columns, index + 1);
        }
        if (columns[index] == null || columns[index].length < size) {
            columns[index] = new int[size];
        }
        return columns[index];
    }
}
