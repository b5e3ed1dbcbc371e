package dev.torchane.host;

import java.util.List;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.Value;

/**
 * What lowering sees of a function it makes: {@code torch_ane.sinks.FunctionSink}. Handles are
 * {@link dev.torchane.program.Value}s, opaque to Python.
 */
public interface FunctionSink {

    /** Declares a tensor given at each call. */
    @HostAccess.Export
    Object input(String name, String dtype, List<Integer> shape);

    /** Declares a state, kept between calls. */
    @HostAccess.Export
    Object state(String name, String dtype, List<Integer> shape);

    /** A weight that was given before, in the function's precision; the same handle each time. */
    @HostAccess.Export
    Object weight(String name);

    /** A small constant as a value: a number, a truth value, a text, or a list of numbers. */
    @HostAccess.Export
    Object constant(Value value);

    /**
     * Appends an operation.
     *
     * @param name a hint, made unique
     * @param operands a Python mapping from parameter to handle, list of handles or literal
     * @param composite group such as {@code rms_norm#12}, or null
     * @return its result; a list for an operation with several; null for one with none
     */
    @HostAccess.Export
    Object operation(String kind, String name, Value operands, String composite);

    /** The type of a handle, as in MIL text. */
    @HostAccess.Export
    String type_of(Object handle);

    /** Ends the function; the results get these names. */
    @HostAccess.Export
    void done(Value outputs);
}
