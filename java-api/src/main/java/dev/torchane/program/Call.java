package dev.torchane.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.Function;

/** One use of an operation, as inference sees it: operands with their types, and the values of those that are constants. */
public final class Call {

    private final Signature signature;
    private final String name;
    private final Map<String, List<Value>> operands;
    private final Function<Value, Optional<Literal>> constants;

    Call(
            Signature signature,
            String name,
            Map<String, List<Value>> operands,
            Function<Value, Optional<Literal>> constants) {
        this.signature = signature;
        this.name = name;
        this.operands = operands;
        this.constants = constants;
    }

    /** The kind of operation. */
    public String kind() {
        return signature.kind();
    }

    /** Whether a parameter is given. */
    public boolean has(String parameter) {
        List<Value> values = operands.get(parameter);
        return values != null && !values.isEmpty();
    }

    /** The operand of a parameter. */
    public Value value(String parameter) {
        if (!has(parameter)) {
            throw refuse("a '" + parameter + "'");
        }
        return operands.get(parameter).getFirst();
    }

    /** The type of an operand. */
    public TensorType type(String parameter) {
        return value(parameter).type();
    }

    /** The types of all operands of a variadic parameter. */
    public List<TensorType> types(String parameter) {
        value(parameter);
        return operands.get(parameter).stream().map(Value::type).toList();
    }

    /** The value of a constant operand, or the parameter's default. */
    public Optional<Literal> literal(String parameter) {
        if (has(parameter)) {
            return constants.apply(value(parameter));
        }
        return signature.parameter(parameter).flatMap(Parameter::defaultValue);
    }

    /** Integers of a constant operand, if it is one whose numbers stand in the program. */
    public Optional<List<Integer>> integers(String parameter) {
        if (!(literal(parameter).orElse(null) instanceof Literal.Numbers numbers)) {
            return Optional.empty();
        }
        List<Integer> values = new ArrayList<>(numbers.values().size());
        for (double value : numbers.values()) {
            values.add((int) value);
        }
        return Optional.of(values);
    }

    /** Integers of an operand that has to be constant. */
    public List<Integer> ints(String parameter) {
        return integers(parameter).orElseThrow(() -> notConstant(parameter, "integers"));
    }

    /** One integer of an operand that has to be constant. */
    public int integer(String parameter) {
        List<Integer> values = ints(parameter);
        if (values.size() != 1) {
            throw refuse("one integer for '" + parameter + "', not " + values);
        }
        return values.getFirst();
    }

    /** One number of an operand that has to be constant. */
    public double number(String parameter) {
        if (literal(parameter).orElse(null) instanceof Literal.Numbers numbers
                && numbers.values().size() == 1) {
            return numbers.values().getFirst();
        }
        throw notConstant(parameter, "number");
    }

    /** The truth of an operand that has to be constant. */
    public boolean flag(String parameter) {
        return switch (literal(parameter).orElse(null)) {
            case Literal.Bool(boolean value) -> value;
            case null, default -> throw notConstant(parameter, "bool");
        };
    }

    /** Truth values of a constant operand, one per axis; all false when it is not given. */
    public List<Boolean> flags(String parameter, int rank) {
        if (!has(parameter)) {
            return java.util.Collections.nCopies(rank, false);
        }
        List<Boolean> values = ints(parameter).stream().map(value -> value != 0).toList();
        if (values.size() != rank) {
            throw refuse(rank + " truth values for '" + parameter + "', not " + values.size());
        }
        return values;
    }

    /** The text of an operand that has to be constant. */
    public String text(String parameter) {
        if (literal(parameter).orElse(null) instanceof Literal.Text(String text)) {
            return text;
        }
        throw notConstant(parameter, "string");
    }

    /** A constant axis of {@code x}, counted from the front. */
    public int axis(String parameter, int rank) {
        return axis(parameter, integer(parameter), rank);
    }

    /** Constant axes, counted from the front, each once. */
    public List<Integer> axes(String parameter, int rank) {
        List<Integer> axes = new ArrayList<>();
        for (int axis : ints(parameter)) {
            int counted = axis(parameter, axis, rank);
            if (axes.contains(counted)) {
                throw refuse("each axis once in '" + parameter + "', not " + ints(parameter));
            }
            axes.add(counted);
        }
        return axes;
    }

    private int axis(String parameter, int axis, int rank) {
        if (axis < -rank || axis >= rank) {
            throw refuse("'" + parameter + "' between " + -rank + " and " + (rank - 1) + ", not " + axis);
        }
        return axis < 0 ? axis + rank : axis;
    }

    /** Requires an operand to have floating-point elements. */
    public TensorType floats(String parameter) {
        TensorType type = type(parameter);
        if (!type.dtype().isFloat()) {
            throw refuse("floating-point elements in '" + parameter + "', not "
                    + type.dtype().mil());
        }
        return type;
    }

    /** Requires two operands to have the same element type. */
    public void sameElements(String first, String second) {
        if (type(first).dtype() != type(second).dtype()) {
            throw refuse("'" + second + "' with the element type of '" + first + "' ("
                    + type(first).dtype().mil() + "), not "
                    + type(second).dtype().mil());
        }
    }

    /** Requires an operand to have a rank. */
    public TensorType rank(String parameter, int least, int most) {
        TensorType type = type(parameter);
        if (type.rank() < least || type.rank() > most) {
            String ranks = least == most ? "rank " + least : "rank " + least + " to " + most;
            throw refuse("'" + parameter + "' of " + ranks + ", not " + type);
        }
        return type;
    }

    /** Requires an operand, where given, to have exactly a type. */
    public void exactly(String parameter, TensorType expected) {
        if (has(parameter) && !type(parameter).equals(expected)) {
            throw refuse("'" + parameter + "' of type " + expected + ", not " + type(parameter));
        }
    }

    /** The refusal of this call: names the operation, its operands and what was expected. */
    public IllegalArgumentException refuse(String expected) {
        return new IllegalArgumentException(this + " expects " + expected);
    }

    private IllegalArgumentException notConstant(String parameter, String what) {
        return refuse("'" + parameter + "' as a constant " + what + " written in the program");
    }

    /** As in {@code matmul 'scores'(x = tensor<fp32, [2, 3]> q, y = tensor<fp32, [4, 5]> k)}. */
    @Override
    public String toString() {
        StringJoiner joiner = new StringJoiner(", ", kind() + " '" + name + "'(", ")");
        operands.forEach((parameter, values) ->
                joiner.add(parameter + " = " + (values.size() == 1 ? values.getFirst() : values)));
        return joiner.toString();
    }
}
