package dev.torchane.program;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One parameter of a MIL operation.
 *
 * @param name as in MIL
 * @param required whether it must be given
 * @param constant whether it must be known when the program is built
 * @param variadic whether it takes several values ({@code values = (a, b)})
 * @param defaultValue what a missing operand means, where that is one fixed value
 */
public record Parameter(
        String name, boolean required, boolean constant, boolean variadic, Optional<Literal> defaultValue) {

    /**
     * Reads the notation of the table of operations: {@code x}, {@code const axes}, {@code bias?}, {@code values...},
     * {@code const axis = -1}.
     */
    static Parameter parse(String notation) {
        String rest = notation.strip();
        boolean constant = rest.startsWith("const ");
        rest = constant ? rest.substring(6).strip() : rest;
        int equals = rest.indexOf('=');
        Optional<Literal> defaultValue = equals < 0
                ? Optional.empty()
                : Optional.of(literal(rest.substring(equals + 1).strip()));
        String name = equals < 0 ? rest : rest.substring(0, equals).strip();
        boolean optional = equals >= 0 || name.endsWith("?");
        boolean variadic = name.endsWith("...");
        name = name.replace("?", "").replace("...", "");
        return new Parameter(name, !optional, constant, variadic, defaultValue);
    }

    /** Refuses operands of the wrong number or kind: states outside {@code input}, values where a constant is needed. */
    void check(String kind, String operation, List<Value> operands, Set<String> constants) {
        if (operands.isEmpty() || (operands.size() > 1 && !variadic)) {
            throw refuse(
                    kind,
                    operation,
                    "takes " + (variadic ? "at least one value" : "one value") + " for",
                    operands.size());
        }
        for (Value operand : operands) {
            if (operand.state() && !name.equals("input")) {
                throw refuse(kind, operation, "needs a value, read it with read_state first, as", operand);
            }
            if (constant && !constants.contains(operand.name())) {
                throw refuse(kind, operation, "needs a constant as", "the value " + operand);
            }
        }
    }

    private IllegalArgumentException refuse(String kind, String operation, String needs, Object found) {
        return new IllegalArgumentException(kind + " '" + operation + "' " + needs + " '" + name + "', found " + found);
    }

    private static Literal literal(String text) {
        if (text.equals("true") || text.equals("false")) {
            return Literal.bool(text.equals("true"));
        }
        char first = text.charAt(text.charAt(0) == '-' ? 1 : 0);
        if (first < '0' || first > '9') {
            return Literal.text(text);
        }
        return text.indexOf('.') < 0 && text.indexOf('e') < 0
                ? Literal.int32(Integer.parseInt(text))
                : Literal.scalar(DType.FP32, Double.parseDouble(text));
    }
}
