package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.OperationTable;
import dev.torchane.program.Parameter;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** One operation with its operands: values of the text, and constants as numbers. Missing operands have the table's defaults. */
final class OperationCall {

    private final Operation operation;
    private final Ir ir;
    private final Function<Value, Ref> values;
    private final Function<Value, Optional<Literal>> literals;
    private final Map<String, Operation> definitions;

    OperationCall(
            Operation operation,
            Ir ir,
            Function<Value, Ref> values,
            Function<Value, Optional<Literal>> literals,
            Map<String, Operation> definitions) {
        this.definitions = definitions;
        this.operation = operation;
        this.ir = ir;
        this.values = values;
        this.literals = literals;
    }

    String kind() {
        return operation.kind();
    }

    Ir ir() {
        return ir;
    }

    Operation operation() {
        return operation;
    }

    /** Type of the first result. */
    TensorType type() {
        return operation.output().type();
    }

    List<TensorType> types() {
        return operation.outputs().stream().map(Value::type).toList();
    }

    /** The operation that an operand is a result of, as a call; empty for constants and inputs. */
    Optional<OperationCall> definition(String parameter) {
        return operation
                .input(parameter)
                .map(value -> definitions.get(value.name()))
                .map(defining -> new OperationCall(defining, ir, values, literals, definitions));
    }

    boolean has(String parameter) {
        return operation.input(parameter).isPresent();
    }

    Ref in(String parameter) {
        return maybe(parameter).orElseThrow(() -> refuse("it has no operand '" + parameter + "'"));
    }

    Optional<Ref> maybe(String parameter) {
        return operation.input(parameter).map(values);
    }

    List<Ref> all(String parameter) {
        return operation.inputs().getOrDefault(parameter, List.of()).stream()
                .map(values)
                .toList();
    }

    /** Numbers of each operand of a variadic parameter; empty for those that are computed. */
    List<Optional<List<Double>>> manyNumbers(String parameter) {
        return operation.inputs().getOrDefault(parameter, List.of()).stream()
                .map(value -> literals.apply(value)
                        .map(literal -> literal instanceof Literal.Numbers numbers ? numbers.values() : null))
                .toList();
    }

    /** A constant operand, or its default. */
    Optional<Literal> literal(String parameter) {
        Optional<Value> given = operation.input(parameter);
        if (given.isPresent()) {
            return literals.apply(given.get());
        }
        return OperationTable.signature(kind()).parameter(parameter).flatMap(Parameter::defaultValue);
    }

    /** Numbers of a constant operand that stand in the program; empty when it is absent or computed. */
    Optional<List<Double>> numbers(String parameter) {
        return literal(parameter).flatMap(literal -> switch (literal) {
            case Literal.Numbers numbers -> Optional.of(numbers.values());
            case Literal.Bool(boolean value) -> Optional.of(List.of(value ? 1.0 : 0.0));
            default -> Optional.empty();
        });
    }

    Optional<List<Integer>> maybeInts(String parameter) {
        return numbers(parameter)
                .map(list -> list.stream().map(Double::intValue).toList());
    }

    List<Integer> ints(String parameter) {
        return maybeInts(parameter).orElseThrow(() -> refuse("'" + parameter + "' is not written in the program"));
    }

    List<Integer> ints(String parameter, List<Integer> fallback) {
        return has(parameter) ? ints(parameter) : fallback;
    }

    double number(String parameter) {
        return numbers(parameter)
                .map(List::getFirst)
                .orElseThrow(() -> refuse("'" + parameter + "' is not written in the program"));
    }

    int integer(String parameter) {
        return (int) number(parameter);
    }

    /** An axis of something, counted from the front. */
    int axis(String parameter, int rank) {
        return Math.floorMod(integer(parameter), rank);
    }

    /** Axes of something, counted from the front, ascending; all of them where none are named. */
    List<Integer> axes(String parameter, int rank) {
        return ints(parameter, Ir.range(rank)).stream()
                .map(axis -> Math.floorMod(axis, rank))
                .sorted()
                .toList();
    }

    boolean flag(String parameter) {
        return number(parameter) != 0;
    }

    String text(String parameter) {
        if (literal(parameter).orElse(null) instanceof Literal.Text(String text)) {
            return text;
        }
        throw refuse("'" + parameter + "' is not text written in the program");
    }

    TorchAneException refuse(String reason) {
        String name =
                operation.outputs().isEmpty() ? "" : " '" + operation.output().name() + "'";
        return new TorchAneException(kind() + name + " has no form in Core AI: " + reason);
    }
}
