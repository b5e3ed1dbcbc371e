package dev.torchane.engine.chunks;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The states of all chunks as one. Those of a chunk are made when it first runs, or when they are first looked at. The state
 * {@code key_cache} of chunk 2 is called {@code key_cache_2} here.
 */
final class ChunkedState implements State {

    private record Place(int chunk, String name) {}

    private final List<Chunk> chunks;
    private final String function;
    private final Map<String, Place> places = new LinkedHashMap<>();
    private final List<State> made = new ArrayList<>();
    private boolean closed;

    ChunkedState(List<Chunk> chunks, String function) {
        this.chunks = chunks;
        this.function = function;
        for (int i = 0; i < chunks.size(); i++) {
            int chunk = i;
            chunks.get(i)
                    .signature(function)
                    .states()
                    .forEach(state -> places.put(name(state.name(), chunk), new Place(chunk, state.name())));
            made.add(null);
        }
    }

    static String name(String state, int chunk) {
        return state + "_" + chunk;
    }

    List<Chunk> chunks() {
        return chunks;
    }

    /** The state of a chunk. */
    synchronized State of(int chunk) {
        if (closed) {
            throw new IllegalStateException("this state is closed");
        }
        State state = made.get(chunk);
        if (state == null) {
            state = chunks.get(chunk).function(function).newState();
            made.set(chunk, state);
        }
        return state;
    }

    @Override
    public Set<String> names() {
        return Set.copyOf(places.keySet());
    }

    @Override
    public Tensor tensor(String name) {
        Place place = places.get(name);
        if (place == null) {
            throw new IllegalArgumentException("there is no state '" + name + "'; there is " + places.keySet());
        }
        return of(place.chunk()).tensor(place.name());
    }

    @Override
    public synchronized void zero() {
        made.stream().filter(state -> state != null).forEach(State::zero);
    }

    @Override
    public synchronized void close() {
        closed = true;
        made.stream().filter(state -> state != null).forEach(State::close);
    }
}
