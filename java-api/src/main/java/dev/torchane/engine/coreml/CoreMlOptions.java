package dev.torchane.engine.coreml;

import java.util.List;

/**
 * How a package is written.
 *
 * @param opset operation set: the oldest system that is to load the package
 * @param states how states are kept; sets before iOS 18 have none, so {@link States#VALUES} there
 * @param functions names of the functions to write, in order; empty for all
 * @param halfNorms whether RMS norms of fp16 programs are computed in fp16 too, so that the Neural Engine can have them; otherwise in
 *     fp32, as in the program
 */
public record CoreMlOptions(CoreMlOpset opset, States states, List<String> functions, boolean halfNorms) {

    /** How the states of a program are kept between calls. */
    public enum States {
        /** By Core ML, in fp16, its only type for them. */
        CORE_ML,
        /** By the caller: each state is an input, and an output of the same name with {@code _out} behind it. */
        VALUES
    }

    public CoreMlOptions {
        if (!opset.atLeast(CoreMlOpset.IOS18)) {
            states = States.VALUES;
        }
        functions = List.copyOf(functions);
    }

    /** iOS 18, states kept by Core ML, all functions. */
    public static CoreMlOptions defaults() {
        return new CoreMlOptions(CoreMlOpset.IOS18, States.CORE_ML, List.of(), false);
    }

    /** For systems from another one on. */
    public CoreMlOptions withOpset(CoreMlOpset other) {
        return new CoreMlOptions(other, states, functions, halfNorms);
    }

    /** With states kept in another way. */
    public CoreMlOptions withStates(States other) {
        return new CoreMlOptions(opset, other, functions, halfNorms);
    }

    /** With some functions only. */
    public CoreMlOptions withFunctions(List<String> names) {
        return new CoreMlOptions(opset, states, names, halfNorms);
    }

    /** With RMS norms in fp16, or in fp32. */
    public CoreMlOptions withHalfNorms(boolean half) {
        return new CoreMlOptions(opset, states, functions, half);
    }
}
