package dev.torchane.grammar;

import dev.torchane.grammar.Instruction.Branch;
import dev.torchane.grammar.Instruction.Invoke;
import dev.torchane.grammar.Instruction.Loop;
import dev.torchane.grammar.Instruction.Match;
import dev.torchane.grammar.Instruction.Return;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * A pushdown automaton over bytes. It follows all readings at once: a state is a set of stacks whose top consumes a byte. Stacks
 * and states are interned weakly; the followers that states remember are dropped when there are many, so memory stays bounded
 * however long it runs. Safe for use by several threads.
 */
final class Automaton {

    /** Readings of one output that may be open at the same time. */
    static final int MAX_STACKS = 8192;

    private static final int MAX_REMEMBERING_STATES = 16384;

    private final int[] byteClasses;
    private final int classCount;
    private final boolean emptyIterations;
    private final GrammarState start;
    private final GrammarState dead = new GrammarState(this, List.of(), false);

    private final Map<Stack, WeakReference<Stack>> stacks = new WeakHashMap<>();
    private final Map<GrammarState, WeakReference<GrammarState>> states = new WeakHashMap<>();
    private final List<GrammarState> remembering = new ArrayList<>();
    private long lastId;

    Automaton(Branch root, int[] byteClasses, boolean emptyIterations) {
        this.byteClasses = byteClasses;
        this.classCount = Arrays.stream(byteClasses).max().orElse(0) + 1;
        this.emptyIterations = emptyIterations;
        Closure closure = new Closure();
        closure.run(root, Stack.BOTTOM);
        this.start = closure.state();
    }

    GrammarState start() {
        return start;
    }

    int classOf(int b) {
        return byteClasses[b];
    }

    /** The state after a byte, computed and remembered. */
    synchronized GrammarState follow(GrammarState state, int b, int byteClass) {
        Closure closure = new Closure();
        for (Stack stack : state.stacks()) {
            Match match = (Match) stack.top;
            if (match.bytes.contains(b)) {
                closure.run(match.next, stack.below);
            }
        }
        GrammarState follower = closure.state();
        GrammarState[] followers = state.followers();
        if (followers == null) {
            if (remembering.size() >= MAX_REMEMBERING_STATES) {
                remembering.forEach(each -> each.followers(null));
                remembering.clear();
            }
            remembering.add(state);
            followers = new GrammarState[classCount];
            state.followers(followers);
        }
        followers[byteClass] = follower;
        return follower;
    }

    /**
     * A state that allows the same next {@code bytes} bytes: counts of loops that these cannot bring to a limit are made equal, so
     * that a mask serves many places within a long repetition.
     */
    synchronized GrammarState withinReach(GrammarState state, int bytes) {
        Map<Stack, Stack> known = new HashMap<>();
        Set<Stack> open = new LinkedHashSet<>();
        for (Stack stack : state.stacks()) {
            open.add(withinReach(stack, bytes, known));
        }
        return state(open, state.isComplete());
    }

    private Stack withinReach(Stack stack, int bytes, Map<Stack, Stack> known) {
        ArrayDeque<Stack> frames = new ArrayDeque<>();
        Stack below = stack;
        while (below != Stack.BOTTOM && !known.containsKey(below)) {
            frames.push(below);
            below = below.below;
        }
        Stack rebuilt = below == Stack.BOTTOM ? below : known.get(below);
        for (Stack frame : frames) {
            rebuilt = stack(frame.top, countWithinReach(frame, bytes), rebuilt);
            known.put(frame, rebuilt);
        }
        return rebuilt;
    }

    /** Each iteration that counts consumes at least one byte. */
    private static int countWithinReach(Stack frame, int bytes) {
        if (frame.count == Stack.GO_ON || !(frame.top instanceof Loop loop)) {
            return frame.count;
        }
        boolean farFromMin = loop.min - frame.count > bytes;
        boolean farFromMax = frame.count >= loop.min && loop.max - frame.count > bytes;
        return farFromMin ? 0 : farFromMax ? loop.min : frame.count;
    }

    private Stack stack(Instruction top, int count, Stack below) {
        Stack candidate = new Stack(top, count, below, lastId + 1);
        WeakReference<Stack> known = stacks.get(candidate);
        Stack interned = known == null ? null : known.get();
        if (interned != null) {
            return interned;
        }
        lastId++;
        stacks.put(candidate, new WeakReference<>(candidate));
        return candidate;
    }

    private GrammarState state(Collection<Stack> open, boolean complete) {
        if (open.isEmpty() && !complete) {
            return dead;
        }
        GrammarState candidate = new GrammarState(
                this,
                open.stream()
                        .sorted(Comparator.comparingLong(stack -> stack.id))
                        .toList(),
                complete);
        WeakReference<GrammarState> known = states.get(candidate);
        GrammarState interned = known == null ? null : known.get();
        if (interned != null) {
            return interned;
        }
        states.put(candidate, new WeakReference<>(candidate));
        return candidate;
    }

    /** Runs instructions up to those that consume a byte. */
    private final class Closure {

        private record Place(Instruction instruction, Stack below) {}

        private final Set<Stack> open = new LinkedHashSet<>();
        private boolean complete;

        private final ArrayDeque<Place> work = new ArrayDeque<>();
        private final Set<Place> seen = new HashSet<>();
        /** Loop frames pushed since the last byte: returning to one is an iteration over nothing, which leads nowhere new. */
        private final Set<Stack> fresh = new HashSet<>();

        void run(Instruction instruction, Stack below) {
            if (emptyIterations) {
                seen.clear();
                fresh.clear();
            }
            go(instruction, below);
            while (!work.isEmpty()) {
                Place place = work.pop();
                step(place.instruction, place.below);
            }
            if (open.size() > MAX_STACKS) {
                throw new GrammarException(
                        "after " + open.size() + " open readings",
                        "the grammar is too ambiguous: more than " + MAX_STACKS
                                + " readings of the same output are open; make its alternatives begin differently");
            }
        }

        GrammarState state() {
            return Automaton.this.state(open, complete);
        }

        private void go(Instruction instruction, Stack below) {
            Place place = new Place(instruction, below);
            if (seen.add(place)) {
                work.push(place);
            }
        }

        private void step(Instruction instruction, Stack below) {
            switch (instruction) {
                case Match match -> open.add(stack(match, Stack.GO_ON, below));
                case Branch branch -> branch.ways.forEach(way -> go(way, below));
                case Invoke invoke ->
                    go(invoke.rule, invoke.next == Return.RETURN ? below : stack(invoke.next, Stack.GO_ON, below));
                case Loop loop -> iterate(loop, 0, below);
                case Return end -> returnTo(below);
            }
        }

        private void returnTo(Stack frame) {
            if (frame == Stack.BOTTOM) {
                complete = true;
            } else if (frame.count == Stack.GO_ON) {
                go(frame.top, frame.below);
            } else if (!fresh.contains(frame)) {
                iterate((Loop) frame.top, frame.count + 1, frame.below);
            }
        }

        private void iterate(Loop loop, int count, Stack below) {
            if (count >= loop.min) {
                go(loop.next, below);
            }
            if (count < loop.max) {
                Stack frame = stack(loop, loop.max == Node.UNBOUNDED ? Math.min(count, loop.min) : count, below);
                if (emptyIterations) {
                    fresh.add(frame);
                }
                go(loop.body, frame);
            }
        }
    }
}
