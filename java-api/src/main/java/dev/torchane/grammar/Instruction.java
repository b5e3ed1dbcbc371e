package dev.torchane.grammar;

import java.util.ArrayList;
import java.util.List;

/** A node of the automaton's program. Instructions are compared by identity and do not change once the program is whole. */
sealed interface Instruction {

    /** Consumes one byte of a set. */
    final class Match implements Instruction {
        final ByteSet bytes;
        final Instruction next;

        Match(ByteSet bytes, Instruction next) {
            this.bytes = bytes;
            this.next = next;
        }
    }

    /** Goes all ways at once. */
    final class Branch implements Instruction {
        final List<Instruction> ways = new ArrayList<>();
    }

    /** Runs a rule, then goes on. */
    final class Invoke implements Instruction {
        final Branch rule;
        final Instruction next;

        Invoke(Branch rule, Instruction next) {
            this.rule = rule;
            this.next = next;
        }
    }

    /** Runs the body, which ends with {@link Return}, from min to max times; the count is kept on the stack. */
    final class Loop implements Instruction {
        final Instruction body;
        final int min;
        final int max;
        final Instruction next;

        Loop(Instruction body, int min, int max, Instruction next) {
            this.body = body;
            this.min = min;
            this.max = max;
            this.next = next;
        }
    }

    /** Ends a rule or the body of a loop. */
    final class Return implements Instruction {
        static final Return RETURN = new Return();

        private Return() {}
    }
}
