package dev.torchane.engine;

/**
 * How an engine loads a program.
 *
 * @param threads worker threads, up to 1024; 0 takes the engine's default (the physical cores)
 * @param numerics rounding between operations
 * @param units hardware to run on
 * @param vector whether Vector API kernels may be used; false takes their scalar twins
 */
public record EngineOptions(int threads, Numerics numerics, ComputeUnits units, boolean vector) {

    private static final int MOST_THREADS = 1024;

    public EngineOptions {
        if (numerics == null || units == null) {
            throw new IllegalArgumentException("numerics and units must not be null, found " + numerics + ", " + units);
        }
        if (threads < 0 || threads > MOST_THREADS) {
            throw new IllegalArgumentException(
                    "threads must be 0 (the physical cores) or up to " + MOST_THREADS + ", found " + threads);
        }
    }

    /** Default threads, fp32 numerics, all units, vector kernels. */
    public static EngineOptions defaults() {
        return new EngineOptions(0, Numerics.FP32, ComputeUnits.ALL, true);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, numerics, units, vector);
    }

    public EngineOptions withNumerics(Numerics other) {
        return new EngineOptions(threads, other, units, vector);
    }

    public EngineOptions withUnits(ComputeUnits other) {
        return new EngineOptions(threads, numerics, other, vector);
    }

    public EngineOptions withVector(boolean allowed) {
        return new EngineOptions(threads, numerics, units, allowed);
    }
}
