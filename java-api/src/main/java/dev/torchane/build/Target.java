package dev.torchane.build;

/** What a build is for: selects the passes, and is part of the cache key. */
public enum Target {
    ANE,
    GPU,
    CPU;

    /** Lower-case name, as in manifests and on the command line. */
    public String id() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
