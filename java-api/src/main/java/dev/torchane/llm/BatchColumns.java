package dev.torchane.llm;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The state that the streams of a batch have in common. Each token's keys and values take one column, in the order in which they
 * are computed, so a stream's columns ascend and lie among those of others; columns of streams that left are taken back when
 * the state is full, by moving the others together, into a larger state or a smaller one where that fits.
 */
final class BatchColumns implements AutoCloseable {

    private final LanguageModel model;
    private final List<BatchMember> members = new ArrayList<>();
    private State state;
    private int rung;
    private BatchMember[] owners;
    private int[] positions;
    private int frontier;

    BatchColumns(LanguageModel model) {
        this.model = model;
        become(
                model.shape().ladder().getFirst(),
                model.batch(model.shape().ladder().getFirst()).newState());
    }

    private void become(int newRung, State newState) {
        rung = newRung;
        state = newState;
        owners = new BatchMember[rung];
        positions = new int[rung];
        frontier = 0;
    }

    List<BatchMember> members() {
        return members;
    }

    State state() {
        return state;
    }

    int rung() {
        return rung;
    }

    /** First column that no token has taken. */
    int frontier() {
        return frontier;
    }

    /** Stream of a column; null where there is none. */
    BatchMember owner(int column) {
        return owners[column];
    }

    /** Position in its stream of a column's token. */
    int position(int column) {
        return positions[column];
    }

    /** Gives a stream's next token the next column. */
    void place(BatchMember member) {
        owners[frontier] = member;
        positions[frontier] = member.size();
        member.place(frontier++);
    }

    /** Takes back the tokens of the columns from {@code column} on, which are to be computed again, and what was computed of them. */
    void takeBack(int column) {
        for (int taken = column; taken < frontier; taken++) {
            if (owners[taken] != null) {
                owners[taken].takeBack();
                owners[taken] = null;
            }
        }
        frontier = column;
        StateColumns.erase(state, column, rung);
    }

    /** Takes a stream in whose keys and values are elsewhere, in the first {@code count} columns. */
    void admit(BatchMember member, Map<String, Tensor> from, int count) {
        for (String name : state.names()) {
            StateColumns.copy(from.get(name), 0, state.tensor(name), frontier, count);
        }
        members.add(member);
        for (int i = 0; i < count; i++) {
            place(member);
        }
    }

    /** Lets a stream's columns go. */
    void release(BatchMember member) {
        members.remove(member);
        for (int i = 0; i < member.size(); i++) {
            owners[member.column(i)] = null;
        }
    }

    /** Whether {@link #makeRoom} can succeed. Among others a stream gets no column of the last eighth, so that moving stays rare. */
    boolean canMakeRoom(int count, boolean alone) {
        return rungFor(count, alone) > 0;
    }

    /**
     * Makes sure that {@code count} columns are free behind the frontier.
     *
     * @return false when the largest state cannot have them
     */
    boolean makeRoom(int count) {
        if (frontier + count <= rung) {
            return true;
        }
        int wanted = rungFor(count, members.size() <= 1);
        if (wanted == 0) {
            return false;
        }
        move(wanted);
        return true;
    }

    private int rungFor(int count, boolean alone) {
        int live = members.stream().mapToInt(BatchMember::size).sum();
        for (int candidate : model.shape().ladder()) {
            if (live + count + (alone ? 0 : candidate / 8) <= candidate) {
                return candidate;
            }
        }
        return 0;
    }

    private void move(int wanted) {
        int[] live = new int[frontier];
        int count = 0;
        for (int column = 0; column < frontier; column++) {
            if (owners[column] != null) {
                live[count++] = column;
            }
        }
        State source = state;
        BatchMember[] oldOwners = owners;
        int[] oldPositions = positions;
        become(wanted, wanted == rung ? source : model.batch(wanted).newState());
        for (String name : source.names()) {
            Tensor from = source.tensor(name);
            StateColumns.copy(from, live, count, source == state ? from : state.tensor(name), 0);
        }
        for (int i = 0; i < count; i++) {
            owners[i] = oldOwners[live[i]];
            positions[i] = oldPositions[live[i]];
            owners[i].moved(positions[i], i);
        }
        frontier = count;
        if (source != state) {
            source.close();
        }
    }

    @Override
    public void close() {
        state.close();
    }
}
