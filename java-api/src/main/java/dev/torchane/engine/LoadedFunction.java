package dev.torchane.engine;

import dev.torchane.program.Function;
import dev.torchane.program.Value;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/** One function of a loaded program. */
public interface LoadedFunction {

    /** The function's inputs, states, operations and outputs. */
    Function signature();

    /** Fresh states, all zero, for this function; functions that declare states of the same name and type share them. */
    State newState();

    /**
     * Runs the function.
     *
     * @param inputs a tensor for each tensor input, by name, with exactly its type
     * @param state from {@link #newState()} of a function with the same states; written in place
     * @param rows the rows that are wanted. Inputs are given whole; engines with fixed shapes compute all rows, the
     *     {@code jvm} engine only these, and results of other rows are unspecified
     * @return the outputs by name; the tensors belong to the caller
     * @throws IllegalArgumentException when an input is missing, unknown or of the wrong type
     * @throws IllegalStateException when the program or the state is closed, or the state is in use by another call
     */
    Map<String, Tensor> run(Map<String, Tensor> inputs, State state, RowRange rows);

    /**
     * As {@link #run(Map, State, RowRange)} over all rows, unless it is cancelled meanwhile. An engine that cannot stop on its way
     * looks before it begins.
     *
     * @param cancelled asked between operations, from the calling thread
     * @throws java.util.concurrent.CancellationException when it answered true; the state is as far as the call had come
     */
    default Map<String, Tensor> run(Map<String, Tensor> inputs, State state, BooleanSupplier cancelled) {
        if (cancelled.getAsBoolean()) {
            throw new CancellationException("the call was cancelled before it began");
        }
        return run(inputs, state, RowRange.ALL);
    }

    /**
     * Checks a call's inputs.
     *
     * @throws IllegalArgumentException when one is missing, unknown or of the wrong type
     */
    static void requireInputs(Function function, Map<String, Tensor> inputs) {
        int tensors = 0;
        for (Value input : function.inputs()) {
            if (input.state()) {
                continue;
            }
            tensors++;
            Tensor given = inputs.get(input.name());
            if (given == null) {
                throw new IllegalArgumentException("function '" + function.name() + "' needs the input '" + input.name()
                        + "' of type " + input.type() + "; it was given " + inputs.keySet());
            }
            if (!given.type().equals(input.type())) {
                throw new IllegalArgumentException("input '" + input.name() + "' of function '" + function.name()
                        + "' has type " + given.type() + ", expected " + input.type());
            }
        }
        if (inputs.size() > tensors) {
            throw new IllegalArgumentException("function '" + function.name() + "' was given " + inputs.keySet()
                    + "; it takes "
                    + function.tensors().stream().map(Value::name).toList());
        }
    }

    /** Runs with all rows. */
    default Map<String, Tensor> run(Map<String, Tensor> inputs, State state) {
        return run(inputs, state, RowRange.ALL);
    }
}
