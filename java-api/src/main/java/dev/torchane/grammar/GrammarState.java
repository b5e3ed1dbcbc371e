package dev.torchane.grammar;

import java.util.Arrays;
import java.util.List;

/**
 * What a {@link Grammar} has read so far. Immutable; two states of one grammar from which the same stacks are open are the same
 * object. A state that is not {@linkplain #isDead() dead} can always be completed.
 */
public final class GrammarState {

    private final Automaton automaton;
    private final List<Stack> stacks;
    private final boolean complete;
    /** Followers by byte class; only a cache, and dropped when many states have one. */
    private GrammarState[] followers;

    GrammarState(Automaton automaton, List<Stack> stacks, boolean complete) {
        this.automaton = automaton;
        this.stacks = stacks;
        this.complete = complete;
    }

    /** The state after more bytes of UTF-8 output; dead as soon as no output that the grammar allows begins this way. */
    public GrammarState accept(byte... bytes) {
        GrammarState state = this;
        for (byte b : bytes) {
            state = state.step(b & 0xFF);
        }
        return state;
    }

    /** As {@link #accept}, for one byte from 0 to 255. */
    GrammarState step(int b) {
        int byteClass = automaton.classOf(b);
        GrammarState[] known = followers;
        GrammarState follower = known == null ? null : known[byteClass];
        return follower != null ? follower : automaton.follow(this, b, byteClass);
    }

    /** Whether the output may end here. */
    public boolean isComplete() {
        return complete;
    }

    /** Whether nothing the grammar allows begins with what was accepted. */
    public boolean isDead() {
        return stacks.isEmpty() && !complete;
    }

    List<Stack> stacks() {
        return stacks;
    }

    Automaton automaton() {
        return automaton;
    }

    GrammarState[] followers() {
        return followers;
    }

    void followers(GrammarState[] cache) {
        followers = cache;
    }

    /** States are interned by what they hold: the same stacks, of which each is one object. */
    @Override
    public boolean equals(Object other) {
        return other instanceof GrammarState state
                && state.automaton == automaton
                && state.complete == complete
                && state.stacks.equals(stacks);
    }

    @Override
    public int hashCode() {
        int hash = complete ? 1 : 0;
        for (Stack stack : stacks) {
            hash = hash * 31 + Long.hashCode(stack.id);
        }
        return hash;
    }

    @Override
    public String toString() {
        long[] ids = stacks.stream().mapToLong(stack -> stack.id).toArray();
        return "GrammarState" + Arrays.toString(ids) + (complete ? " complete" : "");
    }
}
