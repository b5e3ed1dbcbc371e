package dev.torchane.engine.coreai;

import java.util.List;

/**
 * How a program becomes one of Core AI.
 *
 * @param cacheWrites how a window of keys and values gets into a state
 * @param composites whether groups ({@code rms_norm}, {@code sdpa}, {@code rope}) become Core AI's composite operations
 * @param surfaces whether states are kept in IOSurfaces, memory that the Neural Engine reads directly
 * @param functions names of the functions to write, in order; empty for all
 */
public record CoreAiOptions(CacheWrites cacheWrites, boolean composites, boolean surfaces, List<String> functions) {

    /** How a window gets into a state at a place that is known at each call only. */
    public enum CacheWrites {
        /** {@code slice_update} at that place. */
        SLICE_UPDATE,
        /** {@code cache · (1 − m) + window · m} with a one-hot mask, for hardware on which the former fails. */
        ONE_HOT
    }

    public CoreAiOptions {
        functions = List.copyOf(functions);
    }

    /** {@code slice_update}, composites, IOSurfaces, all functions. */
    public static CoreAiOptions defaults() {
        return new CoreAiOptions(CacheWrites.SLICE_UPDATE, true, true, List.of());
    }

    public CoreAiOptions withCacheWrites(CacheWrites writes) {
        return new CoreAiOptions(writes, composites, surfaces, functions);
    }

    public CoreAiOptions withComposites(boolean wanted) {
        return new CoreAiOptions(cacheWrites, wanted, surfaces, functions);
    }

    public CoreAiOptions withSurfaces(boolean wanted) {
        return new CoreAiOptions(cacheWrites, composites, wanted, functions);
    }

    public CoreAiOptions withFunctions(List<String> names) {
        return new CoreAiOptions(cacheWrites, composites, surfaces, names);
    }
}
