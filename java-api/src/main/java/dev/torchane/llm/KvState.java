package dev.torchane.llm;

import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The keys and values of one stream of tokens, and the tokens themselves. Owned by one session; not for several threads at
 * once.
 */
public final class KvState implements AutoCloseable {

    private final LanguageModel model;
    private final Map<String, WindowInputs> inputs = new HashMap<>();
    private State state;
    private int rung;
    private int[] tokens = new int[64];
    private int position;
    private volatile boolean closed;

    KvState(LanguageModel model) {
        this.model = model;
        this.rung = model.shape().ladder().getFirst();
        this.state = model.decode(rung).newState();
    }

    /** Tokens whose keys and values are here. */
    public int position() {
        return position;
    }

    /** Columns of the present rung. */
    public int capacity() {
        return rung;
    }

    /** The ids up to {@link #position()}. */
    public int[] tokens() {
        return Arrays.copyOf(tokens, position);
    }

    /**
     * Forgets every token from {@code length} on.
     *
     * @throws IllegalArgumentException when {@code length} is negative or beyond {@link #position()}
     */
    public void trim(int length) {
        ensureOpen();
        if (length < 0 || length > position) {
            throw new IllegalArgumentException("cannot trim a state of " + position + " tokens to " + length);
        }
        position = length;
    }

    /** Forgets everything and goes back to the lowest rung. */
    public void reset() {
        ensureOpen();
        position = 0;
        int first = model.shape().ladder().getFirst();
        if (rung != first) {
            replaceState(first, model.decode(first).newState());
        }
    }

    /** A view of the tokens, of which the first {@code promptSize} are the prompt. */
    TokenHistory history(int promptSize) {
        return new TokenHistory() {
            @Override
            public int size() {
                return position;
            }

            @Override
            public int promptSize() {
                return promptSize;
            }

            @Override
            public int at(int index) {
                return tokens[java.util.Objects.checkIndex(index, position)];
            }
        };
    }

    State state() {
        ensureOpen();
        return state;
    }

    /** The input tensors of a function of the present rung. */
    WindowInputs inputs(String function, Supplier<WindowInputs> create) {
        return inputs.computeIfAbsent(function, name -> create.get());
    }

    /** Appends ids behind {@link #position()} without moving it; the array returned holds all of them. */
    int[] append(int[] ids) {
        int end = position + ids.length;
        if (end > tokens.length) {
            tokens = Arrays.copyOf(tokens, Math.max(end, 2 * tokens.length));
        }
        System.arraycopy(ids, 0, tokens, position, ids.length);
        return tokens;
    }

    void advance(int to) {
        position = to;
    }

    /** Climbs to the rung that holds {@code end} tokens; what is computed moves along. */
    void ensureCapacity(int end) {
        if (end <= rung) {
            return;
        }
        int higher = model.shape().rungFor(end);
        LoadedFunction function = model.decode(higher);
        State larger = function.newState();
        for (String name : state.names()) {
            copyColumns(state.tensor(name), larger.tensor(name), position);
        }
        replaceState(higher, larger);
    }

    private void replaceState(int newRung, State replacement) {
        state.close();
        inputs.clear();
        state = replacement;
        rung = newRung;
    }

    /** Copies the first columns of {@code [layers, 1, heads, columns, dim]} into a tensor with more of them. */
    private static void copyColumns(Tensor from, Tensor to, int columns) {
        int rank = from.type().rank();
        long width = from.type().dtype().bytes(from.type().axis(-1));
        long blocks = 1;
        for (int axis = 0; axis < rank - 2; axis++) {
            blocks *= from.type().axis(axis);
        }
        long fromStride = from.type().axis(-2) * width;
        long toStride = to.type().axis(-2) * width;
        for (long block = 0; block < blocks; block++) {
            MemorySegment.copy(from.data(), block * fromStride, to.data(), block * toStride, columns * width);
        }
    }

    private void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("this KV state is closed");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            state.close();
        }
    }
}
