package dev.torchane.grammar;

/**
 * Where one reading of the output stands: an instruction, and below it what to do on return. Interned by {@link Automaton}, so
 * that equal stacks are one object and comparing them never walks down.
 */
final class Stack {

    static final int GO_ON = -1;

    /** Below the root rule. Never run. */
    static final Stack BOTTOM = new Stack(Instruction.Return.RETURN, GO_ON, null, 0);

    final Instruction top;
    /** Iterations finished, if the top is a loop whose body is running; {@link #GO_ON} if the top is to run next. */
    final int count;

    final Stack below;
    final long id;

    Stack(Instruction top, int count, Stack below, long id) {
        this.top = top;
        this.count = count;
        this.below = below;
        this.id = id;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Stack stack && stack.top == top && stack.count == count && stack.below == below;
    }

    @Override
    public int hashCode() {
        return (System.identityHashCode(top) * 31 + count) * 31 + System.identityHashCode(below);
    }
}
