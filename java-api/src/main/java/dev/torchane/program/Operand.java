package dev.torchane.program;

import java.util.Arrays;
import java.util.List;

/**
 * What an operation may be given for a parameter: a {@link Value} of the function, a {@link Literal} (it becomes a small
 * constant), or {@link Many} of them for a parameter that takes several, such as {@code concat}'s {@code values}.
 */
public sealed interface Operand permits Value, Literal, Operand.Many {

    /** Several operands for one parameter. */
    record Many(List<Operand> operands) implements Operand {
        public Many {
            operands = List.copyOf(operands);
        }
    }

    /** Several operands for one parameter. */
    static Many many(Operand... operands) {
        return new Many(Arrays.asList(operands));
    }

    /** Several operands for one parameter. */
    static Many many(List<? extends Operand> operands) {
        return new Many(List.copyOf(operands));
    }
}
