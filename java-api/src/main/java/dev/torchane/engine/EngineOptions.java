package dev.torchane.engine;

/**
 * How an engine loads a program.
 *
 * @param threads worker threads, up to 1024; 0 takes the engine's default (the physical cores)
 * @param numerics rounding between operations
 * @param units hardware to run on
 * @param states how states are kept between calls; for numerics as declared always as declared
 * @param vector whether Vector API kernels may be used; false takes their scalar twins
 */
public record EngineOptions(int threads, Numerics numerics, ComputeUnits units, StateStorage states, boolean vector) {

    private static final int MOST_THREADS = 1024;

    public EngineOptions {
        if (numerics == null || units == null || states == null) {
            throw new IllegalArgumentException(
                    "numerics, units and states must not be null, found " + numerics + ", " + units + ", " + states);
        }
        if (threads < 0 || threads > MOST_THREADS) {
            throw new IllegalArgumentException(
                    "threads must be 0 (the physical cores) or up to " + MOST_THREADS + ", found " + threads);
        }
    }

    /** Default threads, fp32 numerics, {@link ComputeUnits#byDefault()}, states as declared, vector kernels. */
    public static EngineOptions defaults() {
        return new EngineOptions(0, Numerics.FP32, ComputeUnits.byDefault(), StateStorage.DECLARED, true);
    }

    public EngineOptions withThreads(int count) {
        return new EngineOptions(count, numerics, units, states, vector);
    }

    public EngineOptions withNumerics(Numerics other) {
        return new EngineOptions(threads, other, units, states, vector);
    }

    public EngineOptions withUnits(ComputeUnits other) {
        return new EngineOptions(threads, numerics, other, states, vector);
    }

    public EngineOptions withStates(StateStorage storage) {
        return new EngineOptions(threads, numerics, units, storage, vector);
    }

    public EngineOptions withVector(boolean allowed) {
        return new EngineOptions(threads, numerics, units, states, allowed);
    }
}
