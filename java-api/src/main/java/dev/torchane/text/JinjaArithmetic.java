package dev.torchane.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Python's operators. */
final class JinjaArithmetic {

    private JinjaArithmetic() {}

    static Object apply(String operator, Object a, Object b) {
        if (operator.equals("~")) {
            return concatenate(JinjaValues.text(a), JinjaValues.text(b));
        }
        if (operator.equals("+")) {
            if (a instanceof String left && b instanceof String right) {
                return concatenate(left, right);
            }
            if (a instanceof List<?> left && b instanceof List<?> right) {
                List<Object> joined = new ArrayList<>(left);
                joined.addAll(right);
                return joined;
            }
        }
        if (operator.equals("*") && a instanceof String text && b instanceof Long count) {
            return repeat(text, count);
        }
        if (operator.equals("*") && b instanceof String text && a instanceof Long count) {
            return repeat(text, count);
        }
        if (operator.equals("%") && a instanceof String format) {
            return JinjaFormat.percent(
                    format, b instanceof List<?> list ? new ArrayList<>(list) : Collections.singletonList(b));
        }
        if (!JinjaValues.isNumber(a) || !JinjaValues.isNumber(b)) {
            throw new JinjaError(
                    "'" + operator + "' does not work between " + JinjaValues.type(a) + " and " + JinjaValues.type(b));
        }
        try {
            return a instanceof Double || b instanceof Double || operator.equals("/")
                    ? reals(operator, JinjaValues.real(a, operator), JinjaValues.real(b, operator))
                    : wholes(operator, JinjaValues.whole(a), JinjaValues.whole(b));
        } catch (ArithmeticException e) {
            throw new JinjaError("'" + operator + "': " + e.getMessage());
        }
    }

    private static Object wholes(String operator, long a, long b) {
        return switch (operator) {
            case "+" -> Math.addExact(a, b);
            case "-" -> Math.subtractExact(a, b);
            case "*" -> Math.multiplyExact(a, b);
            case "//" -> Math.floorDiv(a, b);
            case "%" -> Math.floorMod(a, b);
            case "**" -> {
                if (b < 0) {
                    yield Math.pow(a, b);
                }
                long result = 1;
                for (long i = 0; i < Math.min(b, 64); i++) {
                    result = Math.multiplyExact(result, a);
                }
                yield b <= 64 || a == 0 || a == 1 ? result : Math.multiplyExact(Long.MAX_VALUE, 2L);
            }
            default -> throw new JinjaError("unknown operator " + operator);
        };
    }

    private static Object reals(String operator, double a, double b) {
        if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
            throw new ArithmeticException("division by zero");
        }
        return switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "/" -> a / b;
            case "//" -> Math.floor(a / b);
            case "%" -> a - Math.floor(a / b) * b;
            case "**" -> Math.pow(a, b);
            default -> throw new JinjaError("unknown operator " + operator);
        };
    }

    static Object negate(Object value) {
        return value instanceof Double number ? (Object) (-number) : (Object) (-JinjaValues.whole(value));
    }

    static boolean holds(String operator, Object a, Object b) {
        return switch (operator) {
            case "==" -> JinjaValues.equal(a, b);
            case "!=" -> !JinjaValues.equal(a, b);
            case "in" -> JinjaValues.contains(b, a);
            case "not in" -> !JinjaValues.contains(b, a);
            case "<" -> JinjaValues.compare(a, b, operator) < 0;
            case "<=" -> JinjaValues.compare(a, b, operator) <= 0;
            case ">" -> JinjaValues.compare(a, b, operator) > 0;
            default -> JinjaValues.compare(a, b, operator) >= 0;
        };
    }

    /** {@code items[start:stop:step]}; null stands for an omitted or None bound. */
    static List<Object> slice(List<Object> items, Object start, Object stop, Object step) {
        long stride = step == null ? 1 : JinjaValues.whole(step);
        if (stride == 0) {
            throw new JinjaError("a slice's step is 0");
        }
        int size = items.size();
        long low = stride > 0 ? 0 : -1;
        long high = stride > 0 ? size : size - 1;
        long from = bound(start, size, low, high, stride > 0 ? low : high);
        long to = bound(stop, size, low, high, stride > 0 ? high : low);
        List<Object> part = new ArrayList<>();
        for (long i = from; stride > 0 ? i < to : i > to; i += stride) {
            part.add(items.get((int) i));
        }
        return part;
    }

    private static long bound(Object value, int size, long low, long high, long otherwise) {
        if (value == null) {
            return otherwise;
        }
        long index = JinjaValues.whole(value);
        return Math.clamp(index < 0 ? index + size : index, low, high);
    }

    static String concatenate(String a, String b) {
        JinjaLimits.output((long) a.length() + b.length());
        return a + b;
    }

    static String repeat(String text, long count) {
        if (count <= 0 || text.isEmpty()) {
            return "";
        }
        JinjaLimits.output(count > JinjaLimits.OUTPUT ? Long.MAX_VALUE : count * text.length());
        return text.repeat((int) count);
    }
}
