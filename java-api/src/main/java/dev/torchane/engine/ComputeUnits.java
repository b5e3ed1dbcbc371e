package dev.torchane.engine;

/** The hardware a program should run on; an engine that has no choice ignores it. */
public enum ComputeUnits {
    ANE,
    GPU,
    CPU,
    ALL
}
