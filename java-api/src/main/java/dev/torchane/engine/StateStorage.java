package dev.torchane.engine;

/**
 * How an engine keeps states between calls, such as the keys and values of a language model. Less than the program declares
 * takes less memory and is read faster; what is written is rounded.
 */
public enum StateStorage {
    /** As the program declares them. */
    DECLARED,
    /** In fp16. */
    FP16,
    /** In int8 with one fp32 factor for each row along the last axis: for keys and values, each head of each token. */
    INT8
}
