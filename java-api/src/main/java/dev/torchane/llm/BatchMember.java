package dev.torchane.llm;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** A stream in a batch: its tokens, and the columns of the common state in which their keys and values lie, ascending. */
final class BatchMember implements TokenHistory {

    private final BatchLoop.Request request;
    private int[] tokens;
    private int[] columns;
    /** Tokens whose keys and values are in the state; one more token may be known. */
    private int size;

    private Optional<Map<String, Tensor>> setAside = Optional.empty();

    BatchMember(BatchLoop.Request request) {
        this.request = request;
        this.tokens = request.prompt().clone();
        this.columns = new int[tokens.length];
    }

    BatchLoop.Request request() {
        return request;
    }

    TokenStream stream() {
        return request.stream();
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int promptSize() {
        return request.prompt().length;
    }

    @Override
    public int at(int position) {
        return tokens[Objects.checkIndex(position, size)];
    }

    /** A token whose keys and values may not be computed yet. */
    int token(int position) {
        return tokens[position];
    }

    int column(int position) {
        return columns[position];
    }

    /** The token that is computed next. */
    void pending(int id) {
        if (size == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * size + 8);
        }
        tokens[size] = id;
    }

    /** Says where the next token's keys and values lie. */
    void place(int column) {
        if (size == columns.length) {
            columns = Arrays.copyOf(columns, 2 * size + 8);
        }
        columns[size++] = column;
    }

    /** Takes back what {@link #place} said last: the token is to be computed again. */
    void takeBack() {
        size--;
    }

    /** The columns have moved. */
    void moved(int position, int column) {
        columns[position] = column;
    }

    /** Keys and values that left the state for a while. */
    Optional<Map<String, Tensor>> setAside() {
        return setAside;
    }

    /** Takes keys and values out of the state. */
    void setAside(State state) {
        setAside = Optional.of(StateColumns.gather(state, columns, size));
    }

    /** They are back; where, {@link #place} says for each. */
    void returned() {
        setAside = Optional.empty();
        size = 0;
    }
}
