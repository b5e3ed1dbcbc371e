package dev.torchane.text;

import dev.torchane.text.JinjaValues.Undefined;
import java.util.List;
import java.util.Map;

/** Jinja's tests: {@code value is name}. */
final class JinjaTests {

    private JinjaTests() {}

    static boolean apply(String name, Object value, JinjaFunction.Arguments arguments) {
        return switch (name) {
            case "defined" -> !(value instanceof Undefined);
            case "undefined" -> value instanceof Undefined;
            case "none" -> value == null;
            case "true" -> Boolean.TRUE.equals(value);
            case "false" -> Boolean.FALSE.equals(value);
            case "boolean" -> value instanceof Boolean;
            case "string" -> value instanceof String;
            case "number" -> JinjaValues.isNumber(value);
            case "integer" -> value instanceof Long;
            case "float" -> value instanceof Double;
            case "mapping" -> value instanceof Map<?, ?>;
            case "sequence" ->
                value instanceof String
                        || value instanceof List<?>
                        || value instanceof Map<?, ?>
                        || value instanceof Undefined;
            case "iterable" ->
                value instanceof String
                        || value instanceof List<?>
                        || value instanceof Map<?, ?>
                        || value instanceof Undefined;
            case "callable" -> value instanceof JinjaFunction;
            case "odd" -> Math.floorMod(JinjaValues.whole(value), 2L) == 1;
            case "even" -> Math.floorMod(JinjaValues.whole(value), 2L) == 0;
            case "divisibleby" ->
                Math.floorMod(JinjaValues.whole(value), JinjaValues.whole(arguments.get(0, "num"))) == 0;
            case "lower" -> {
                String text = JinjaValues.text(value);
                yield text.equals(text.toLowerCase(java.util.Locale.ROOT))
                        && text.chars().anyMatch(Character::isLetter);
            }
            case "upper" -> {
                String text = JinjaValues.text(value);
                yield text.equals(text.toUpperCase(java.util.Locale.ROOT))
                        && text.chars().anyMatch(Character::isLetter);
            }
            case "in" -> JinjaValues.contains(arguments.get(0, "seq"), value);
            case "eq", "equalto" -> JinjaValues.equal(value, arguments.get(0, "other"));
            case "ne" -> !JinjaValues.equal(value, arguments.get(0, "other"));
            case "lt", "lessthan" -> JinjaValues.compare(value, arguments.get(0, "other"), name) < 0;
            case "le" -> JinjaValues.compare(value, arguments.get(0, "other"), name) <= 0;
            case "gt", "greaterthan" -> JinjaValues.compare(value, arguments.get(0, "other"), name) > 0;
            case "ge" -> JinjaValues.compare(value, arguments.get(0, "other"), name) >= 0;
            case "sameas" -> {
                Object other = arguments.get(0, "other");
                yield value == other || value != null && value.getClass() != Double.class && value.equals(other);
            }
            case "escaped" -> false;
            default -> throw new JinjaError("there is no test '" + name + "'");
        };
    }
}
