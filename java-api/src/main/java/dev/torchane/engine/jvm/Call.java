package dev.torchane.engine.jvm;

import java.util.function.BooleanSupplier;

/** What one run of a plan works with: memory and threads. Reused from call to call. */
final class Call {

    private static final float[] NONE = {};
    private static final int PACKED = 4;
    static final BooleanSupplier NEVER = () -> false;

    /** Activations; each buffer of the plan has its offset here. */
    float[] arena = NONE;
    /** Arrays of the states in the function's order: see {@link StateMemory}. */
    Object[] states = {};

    /** Asked between steps whether to stop. */
    BooleanSupplier cancelled = NEVER;

    final KernelSet kernels;
    private final float[][] scratch;
    private final float[][][] packed;
    private float[] prepared = NONE;
    private final WorkerPool pool;
    private int[][] columns = {};
    private final AttentionPart[] attention;
    private float[] parts = NONE;

    /**
     * @param pool whose threads work on this call when no other call has them
     */
    Call(KernelSet kernels, WorkerPool pool) {
        this.kernels = kernels;
        this.pool = pool;
        int threads = pool.threads();
        this.scratch = new float[threads][];
        java.util.Arrays.fill(scratch, NONE);
        this.packed = new float[threads][PACKED][];
        this.attention = new AttentionPart[threads];
        java.util.Arrays.setAll(attention, worker -> new AttentionPart());
    }

    /** Runs a task on the pool, or here while another call has it. */
    void parallel(WorkerPool.Task task, int chunks) {
        if (chunks > 1 && pool.tryOwn()) {
            try {
                pool.run(task, this, chunks);
            } finally {
                pool.disown();
            }
        } else {
            for (int chunk = 0; chunk < chunks; chunk++) {
                task.run(this, chunk, 0);
            }
        }
    }

    /** Threads that may work on this call. */
    int threads() {
        return pool.threads();
    }

    /** Scratch memory of a worker with at least {@code size} floats; contents are arbitrary. */
    float[] scratch(int worker, int size) {
        if (scratch[worker].length < size) {
            scratch[worker] = new float[size];
        }
        return scratch[worker];
    }

    /** A worker's part of attention, to be filled. */
    AttentionPart attention(int worker) {
        return attention[worker];
    }

    /** Memory for what parts of attention leave, at least {@code size} floats; contents are arbitrary. */
    float[] parts(int size) {
        if (parts.length < size) {
            parts = new float[size];
        }
        return parts;
    }

    /** Memory of a worker for operands that are packed anew in each call, one array for each {@code slot} from 0 to 3. */
    float[] packed(int worker, int slot, int size) {
        float[][] own = packed[worker];
        if (own[slot] == null || own[slot].length < size) {
            own[slot] = new float[size];
        }
        return own[slot];
    }

    /** What a step prepares for all of its chunks: at least {@code size} floats, which stay until more are asked for. */
    float[] prepared(int size) {
        if (prepared.length < size) {
            prepared = new float[size];
        }
        return prepared;
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
