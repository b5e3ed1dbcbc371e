package dev.torchane.engine;

import java.util.Set;

/**
 * The mutable part of a running program: its state tensors, such as the K and V of a language model. Owned by one session;
 * one call at a time may use it.
 */
public interface State extends AutoCloseable {

    /** Names of the state tensors. */
    Set<String> names();

    /**
     * A state tensor: a view, to be read and written until the next call. Ask again after each: an engine whose states are in another
     * memory brings them when it is asked, and takes them back at the next call.
     *
     * @throws IllegalArgumentException when there is no such state
     * @throws IllegalStateException after {@link #close()}
     */
    Tensor tensor(String name);

    /** Sets every state to zero. */
    void zero();

    @Override
    void close();
}
