package dev.torchane.engine.jvm;

import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The constants of a function by value name, for rewrites that need to look at them. */
final class Constants {

    private final Map<String, Literal> literals = new HashMap<>();

    Constants(Function function) {
        for (Operation operation : function.operations()) {
            operation
                    .constant()
                    .ifPresent(literal -> literals.put(operation.output().name(), literal));
        }
    }

    /** The literal of a value, if it is a constant. */
    Optional<Literal> literal(Value value) {
        return Optional.ofNullable(literals.get(value.name()));
    }

    /** Whether an operand is given and constant. */
    boolean has(Operation operation, String parameter) {
        return operation.input(parameter).flatMap(this::literal).isPresent();
    }

    /** Numbers of a constant operand; empty when it is absent, computed, or in a weight file. */
    Optional<List<Double>> numbers(Operation operation, String parameter) {
        return operation.input(parameter).flatMap(this::literal).flatMap(literal -> switch (literal) {
            case Literal.Numbers numbers -> Optional.of(numbers.values());
            case Literal.Bool(boolean value) -> Optional.of(List.of(value ? 1.0 : 0.0));
            default -> Optional.empty();
        });
    }

    /** Integers of a constant operand; empty when it is absent or computed. */
    Optional<int[]> ints(Operation operation, String parameter) {
        return numbers(operation, parameter)
                .map(values -> values.stream().mapToInt(Double::intValue).toArray());
    }

    /** A scalar of a constant operand, or {@code fallback} when the operand is absent. */
    double number(Operation operation, String parameter, double fallback) {
        return numbers(operation, parameter).map(List::getFirst).orElse(fallback);
    }

    /** A truth value of a constant operand, or {@code fallback} when the operand is absent. */
    boolean flag(Operation operation, String parameter, boolean fallback) {
        return numbers(operation, parameter)
                .map(values -> values.getFirst() != 0)
                .orElse(fallback);
    }
}
