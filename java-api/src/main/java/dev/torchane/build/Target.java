package dev.torchane.build;

import dev.torchane.engine.ComputeUnits;
import dev.torchane.engine.Engine;

/** What a build is for: selects the passes, and is part of the cache key. */
public enum Target {
    ANE,
    GPU,
    CPU;

    /**
     * What a build is for where nobody chooses: {@link #CPU} for the engine {@code jvm}, otherwise the hardware that
     * {@code -Dtorchane.units} names, the Neural Engine where it names none.
     */
    public static Target byDefault() {
        if (Engine.defaultName().equals("jvm")) {
            return CPU;
        }
        return switch (ComputeUnits.byDefault()) {
            case ANE, ALL -> ANE;
            case GPU -> GPU;
            case CPU -> CPU;
        };
    }

    /** Lower-case name, as in manifests and on the command line. */
    public String id() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
