package dev.torchane.program;

import java.util.Optional;

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

    private static Literal literal(String text) {
        if (text.equals("true") || text.equals("false")) {
            return Literal.bool(text.equals("true"));
        }
        if (text.matches("-?\\d+")) {
            return Literal.int32(Integer.parseInt(text));
        }
        if (text.matches("-?\\d[\\d.e-]*")) {
            return Literal.scalar(DType.FP32, Double.parseDouble(text));
        }
        return Literal.text(text);
    }
}
