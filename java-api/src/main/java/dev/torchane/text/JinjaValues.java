package dev.torchane.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Python's semantics over plain Java values: {@code null} is None; Boolean, Long, Double, String, List, Map; and
 * BigInteger, which is only written, not calculated with;
 * {@link Undefined}, {@link Namespace}, {@link JinjaFunction}.
 */
final class JinjaValues {

    /** A variable, attribute or item that is not there. */
    record Undefined(String name) {}

    /** Jinja's namespace object: the one thing a template may change. */
    record Namespace(Map<String, Object> attributes) {}

    private JinjaValues() {}

    /** Refuses names that the sandbox keeps to itself. */
    static void checkAttribute(String name) {
        if (name.startsWith("_")) {
            throw new JinjaError(
                    "a namespace cannot hold '" + name + "': names with an underscore in front are reserved");
        }
    }

    /** Turns a caller's value into those above, copying maps and lists. */
    static Object of(Object value) {
        return switch (value) {
            case null -> null;
            case String text -> text;
            case Boolean truth -> truth;
            case Long number -> number;
            case Integer number -> number.longValue();
            case Short number -> number.longValue();
            case Byte number -> number.longValue();
            case BigInteger number -> number.bitLength() < Long.SIZE ? (Object) number.longValue() : number;
            case Double number -> number;
            case Float number -> number.doubleValue();
            case Enum<?> constant -> constant.name().toLowerCase(java.util.Locale.ROOT);
            case Map<?, ?> map -> {
                Map<Object, Object> copy = LinkedHashMap.newLinkedHashMap(map.size());
                map.forEach((key, item) -> copy.put(of(key), of(item)));
                yield copy;
            }
            case Iterable<?> items -> {
                List<Object> copy = new ArrayList<>();
                items.forEach(item -> copy.add(of(item)));
                yield copy;
            }
            default ->
                throw new IllegalArgumentException(
                        "a chat template sees only maps, lists, strings, numbers and booleans, not a "
                                + value.getClass().getName());
        };
    }

    static boolean truth(Object value) {
        return switch (value) {
            case null -> false;
            case Undefined u -> false;
            case Boolean truth -> truth;
            case Long number -> number != 0;
            case Double number -> number != 0;
            case String text -> !text.isEmpty();
            case List<?> list -> !list.isEmpty();
            case Map<?, ?> map -> !map.isEmpty();
            default -> true;
        };
    }

    /** {@code str(value)}, as output writes it. */
    static String text(Object value) {
        return switch (value) {
            case String text -> text;
            case Undefined u -> "";
            case null -> "None";
            default -> repr(value);
        };
    }

    /** {@code repr(value)}. */
    static String repr(Object value) {
        return switch (value) {
            case null -> "None";
            case Undefined u -> "Undefined";
            case Boolean truth -> truth ? "True" : "False";
            case Double number -> real(number);
            case String text -> quoted(text);
            case List<?> list -> {
                List<String> items = new ArrayList<>();
                list.forEach(item -> items.add(repr(item)));
                String joined = String.join(", ", items);
                boolean single = items.size() == 1;
                yield list instanceof JinjaTuple ? "(" + joined + (single ? ",)" : ")") : "[" + joined + "]";
            }
            case Map<?, ?> map -> {
                List<String> items = new ArrayList<>();
                map.forEach((key, item) -> items.add(repr(key) + ": " + repr(item)));
                yield "{" + String.join(", ", items) + "}";
            }
            default -> String.valueOf(value);
        };
    }

    /** A float as Python writes it: shortest digits, an exponent below 1e-4 and from 1e16. */
    static String real(double number) {
        if (Double.isNaN(number)) {
            return "nan";
        }
        if (Double.isInfinite(number)) {
            return number > 0 ? "inf" : "-inf";
        }
        double size = Math.abs(number);
        if (size != 0 && (size < 1e-4 || size >= 1e16)) {
            String[] parts = Double.toString(number).split("E");
            String digits = parts[0].endsWith(".0") ? parts[0].substring(0, parts[0].length() - 2) : parts[0];
            int exponent = Integer.parseInt(parts[1]);
            return digits + "e" + (exponent < 0 ? "-" : "+") + "%02d".formatted(Math.abs(exponent));
        }
        if (size == 0) {
            return 1 / number < 0 ? "-0.0" : "0.0";
        }
        String plain =
                new BigDecimal(Double.toString(number)).stripTrailingZeros().toPlainString();
        return plain.contains(".") ? plain : plain + ".0";
    }

    private static String quoted(String text) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        StringBuilder result = new StringBuilder().append(quote);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '\n' -> result.append("\\n");
                case '\r' -> result.append("\\r");
                case '\t' -> result.append("\\t");
                case '\\' -> result.append("\\\\");
                default -> {
                    if (c == quote) {
                        result.append('\\').append(quote);
                    } else if (isPrintable(c)) {
                        result.appendCodePoint(c);
                    } else {
                        result.append(
                                c < 0x100
                                        ? "\\x%02x".formatted(c)
                                        : c < 0x10000 ? "\\u%04x".formatted(c) : "\\U%08x".formatted(c));
                    }
                }
            }
        });
        return result.append(quote).toString();
    }

    private static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }

    static boolean equal(Object a, Object b) {
        if (isNumber(a) && isNumber(b)) {
            return a instanceof Double || b instanceof Double ? real(a, "==") == real(b, "==") : whole(a) == whole(b);
        }
        if (a instanceof List<?> left && b instanceof List<?> right) {
            boolean same = left.size() == right.size() && left instanceof JinjaTuple == right instanceof JinjaTuple;
            for (int i = 0; same && i < left.size(); i++) {
                same = equal(left.get(i), right.get(i));
            }
            return same;
        }
        if (a instanceof Map<?, ?> left && b instanceof Map<?, ?> right) {
            return left.size() == right.size()
                    && left.entrySet().stream()
                            .allMatch(e -> right.containsKey(e.getKey()) && equal(e.getValue(), right.get(e.getKey())));
        }
        if (a instanceof Undefined && b instanceof Undefined) {
            return true;
        }
        return a == null ? b == null : a.equals(b);
    }

    static int compare(Object a, Object b, String operator) {
        if (isNumber(a) && isNumber(b)) {
            return a instanceof Double || b instanceof Double
                    ? Double.compare(real(a, operator), real(b, operator))
                    : Long.compare(whole(a), whole(b));
        }
        if (a instanceof String left && b instanceof String right) {
            return JinjaStrings.compare(left, right);
        }
        if (a instanceof List<?> left && b instanceof List<?> right) {
            for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
                if (!equal(left.get(i), right.get(i))) {
                    return compare(left.get(i), right.get(i), operator);
                }
            }
            return Integer.compare(left.size(), right.size());
        }
        throw new JinjaError("'" + operator + "' does not work between " + type(a) + " and " + type(b));
    }

    static boolean contains(Object container, Object item) {
        return switch (container) {
            case String text when item instanceof String part -> text.contains(part);
            case Map<?, ?> map -> map.containsKey(item);
            case List<?> list -> list.stream().anyMatch(other -> equal(other, item));
            case Undefined u -> false;
            case null, default ->
                throw new JinjaError("'in' does not work with " + type(item) + " in " + type(container));
        };
    }

    /** What a for loop goes through: a map's keys, a string's characters. */
    static List<Object> items(Object value) {
        return switch (value) {
            case List<?> list -> new ArrayList<>(list);
            case Map<?, ?> map -> new ArrayList<>(map.keySet());
            case String text -> {
                List<Object> characters = new ArrayList<>();
                text.codePoints().forEach(c -> characters.add(Character.toString(c)));
                yield characters;
            }
            case Undefined u -> List.of();
            case null, default -> throw new JinjaError(type(value) + " cannot be iterated over");
        };
    }

    static long length(Object value) {
        return switch (value) {
            case String text -> JinjaStrings.length(text);
            case List<?> list -> list.size();
            case Map<?, ?> map -> map.size();
            case Undefined u -> 0;
            case null, default -> throw new JinjaError(type(value) + " has no length");
        };
    }

    static boolean isNumber(Object value) {
        return value instanceof Long || value instanceof Double || value instanceof Boolean;
    }

    static long whole(Object value) {
        return switch (value) {
            case Long number -> number;
            case Boolean truth -> truth ? 1 : 0;
            case null, default -> throw new JinjaError("expected a whole number, found " + type(value));
        };
    }

    static double real(Object value, String what) {
        return switch (value) {
            case Double number -> number;
            case Long number -> number;
            case Boolean truth -> truth ? 1 : 0;
            case null, default -> throw new JinjaError("'" + what + "' needs a number, found " + type(value));
        };
    }

    static String string(Object value, String what) {
        if (value instanceof String text) {
            return text;
        }
        throw new JinjaError("'" + what + "' needs a string, found " + type(value));
    }

    /** A value's kind, for messages. */
    static String type(Object value) {
        return switch (value) {
            case null -> "none";
            case Undefined u -> "'" + u.name() + "', which is undefined";
            case Boolean b -> "a boolean";
            case Long l -> "a whole number";
            case BigInteger l -> "a whole number of more than 64 bits";
            case Double d -> "a number";
            case String s -> "a string";
            case List<?> l -> "a list";
            case Map<?, ?> m -> "a map";
            case Namespace n -> "a namespace";
            default -> "a function";
        };
    }
}
