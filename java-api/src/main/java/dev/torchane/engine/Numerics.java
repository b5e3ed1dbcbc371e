package dev.torchane.engine;

/** How results are rounded between operations. */
public enum Numerics {
    /** Activations are computed and kept in fp32, whatever the program declares. */
    FP32,
    /**
     * Every result is rounded to the type the program declares, overflow becoming infinity: the stand-in for fp16
     * hardware. Slow; for tests and validation.
     */
    DECLARED
}
