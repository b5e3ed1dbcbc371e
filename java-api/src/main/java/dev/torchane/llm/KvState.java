package dev.torchane.llm;

import dev.torchane.engine.State;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Supplier;

/**
 * The keys and values of one stream of tokens, and the tokens themselves. Owned by one session; not for several threads at
 * once.
 */
public final class KvState implements AutoCloseable {

    private static final int NONE = Integer.MAX_VALUE;

    private final LanguageModel model;
    private final Map<String, WindowInputs> inputs = new HashMap<>();
    private State state;
    private int rung;
    private int[] tokens = new int[64];
    private int position;
    /** Columns from here on may hold what is no number. */
    private int doubtful = NONE;

    private volatile boolean closed;

    KvState(LanguageModel model) {
        this(model, model.shape().ladder().getFirst());
    }

    private KvState(LanguageModel model, int rung) {
        this.model = model;
        this.rung = rung;
        this.state = model.newState(rung);
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
     * Forgets every token from {@code length} on; behind a failure also those before it that the failure may have reached.
     *
     * @throws IllegalArgumentException when {@code length} is negative or beyond {@link #position()}
     */
    public void trim(int length) {
        ensureOpen();
        if (length < 0 || length > position) {
            throw new IllegalArgumentException("cannot trim a state of " + position + " tokens to " + length);
        }
        position = Math.min(length, doubtful);
        eraseDoubtful();
    }

    /**
     * Keeps what is here of a context that is wanted next: the longest common prefix with {@code ids}, but one token less than
     * {@code ids} at most, because logits come from a token that is fed. The rest is forgotten.
     *
     * @return tokens kept, from which feeding {@code ids} goes on
     */
    public int keepCommonPrefix(int[] ids) {
        int limit = Math.min(position, ids.length - 1);
        int common = 0;
        while (common < limit && tokens[common] == ids[common]) {
            common++;
        }
        trim(common);
        return position;
    }

    /** A copy with a life of its own. */
    public KvState fork() {
        State own = state();
        KvState copy = new KvState(model, rung);
        StateColumns.copy(own, 0, copy.state, 0, position);
        copy.tokens = Arrays.copyOf(tokens, tokens.length);
        copy.position = position;
        copy.doubtful = doubtful;
        return copy;
    }

    /**
     * Writes the tokens with their keys and values to a file.
     *
     * @param fingerprint names what the reading process must have in common: the model and how it was built
     * @param attachment bytes of the caller's that belong to it
     * @throws dev.torchane.TorchAneException when the file cannot be written; a file that was there before is then untouched
     */
    public void save(Path file, SortedMap<String, String> fingerprint, byte[] attachment) {
        trim(position);
        SavedState.write(file, this, fingerprint, attachment);
    }

    /** Forgets everything and goes back to the lowest rung. */
    public void reset() {
        ensureOpen();
        position = 0;
        int first = model.shape().ladder().getFirst();
        if (rung != first) {
            replaceState(first, model.newState(first));
            doubtful = NONE;
        }
        eraseDoubtful();
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

    /** Says that columns from {@code column} on are written, and may come to hold what is no number. */
    void doubt(int column) {
        doubtful = Math.min(doubtful, column);
    }

    /** Says that every column was seen to hold numbers. */
    void trust() {
        doubtful = NONE;
    }

    /**
     * Hardware computes closed columns of the mask too and multiplies them by zero, which a NaN survives: one that is left
     * behind the tokens would reach every later one.
     */
    private void eraseDoubtful() {
        if (doubtful != NONE) {
            StateColumns.erase(state, position, rung);
            doubtful = NONE;
        }
    }

    /** Climbs to the rung that holds {@code end} tokens; what is computed moves along. */
    void ensureCapacity(int end) {
        if (end <= rung) {
            return;
        }
        int higher = model.shape().rungFor(end);
        State larger = model.newState(higher);
        StateColumns.copy(state, 0, larger, 0, position);
        replaceState(higher, larger);
    }

    private void replaceState(int newRung, State replacement) {
        state.close();
        inputs.clear();
        state = replacement;
        rung = newRung;
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
