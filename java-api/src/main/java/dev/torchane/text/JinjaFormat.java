package dev.torchane.text;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code %} formatting and the plain uses of {@code str.format}. */
final class JinjaFormat {

    private static final Pattern PERCENT = Pattern.compile("%([-0+ ]*)(\\d*)(?:\\.(\\d+))?([sdifr%])");
    private static final Pattern BRACES = Pattern.compile("\\{\\{|\\}\\}|\\{(\\w*)\\}");
    private static final int MAX_WIDTH = 1000;

    private JinjaFormat() {}

    static String percent(String format, List<Object> values) {
        Matcher matcher = PERCENT.matcher(format);
        StringBuilder result = new StringBuilder();
        int used = 0;
        while (matcher.find()) {
            String text = "%";
            if (!matcher.group(4).equals("%")) {
                if (used >= values.size()) {
                    throw new JinjaError("'%' has too few values for \"" + format + "\"");
                }
                text = padded(matcher, values.get(used++));
            }
            matcher.appendReplacement(result, Matcher.quoteReplacement(text));
        }
        return matcher.appendTail(result).toString();
    }

    private static String padded(Matcher matcher, Object value) {
        String flags = matcher.group(1);
        int width = matcher.group(2).isEmpty() ? 0 : Integer.parseInt(matcher.group(2));
        int precision = matcher.group(3) == null ? -1 : Integer.parseInt(matcher.group(3));
        if (width > MAX_WIDTH || precision > MAX_WIDTH) {
            throw new JinjaError("'%' pads to more than " + MAX_WIDTH);
        }
        String text = switch (matcher.group(4)) {
            case "d", "i" -> Long.toString(value instanceof Double d ? d.longValue() : JinjaValues.whole(value));
            case "f" ->
                String.format(Locale.ROOT, "%." + (precision < 0 ? 6 : precision) + "f", JinjaValues.real(value, "%"));
            case "r" -> JinjaValues.repr(value);
            default -> {
                String plain = JinjaValues.text(value);
                yield precision >= 0 && precision < plain.length() ? plain.substring(0, precision) : plain;
            }
        };
        if (flags.contains("+") && !text.startsWith("-")) {
            text = "+" + text;
        }
        int missing = Math.max(0, width - text.length());
        if (flags.contains("-")) {
            return text + " ".repeat(missing);
        }
        if (flags.contains("0") && !matcher.group(4).equals("s")) {
            int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
            return text.substring(0, sign) + "0".repeat(missing) + text.substring(sign);
        }
        return " ".repeat(missing) + text;
    }

    static String braces(String format, JinjaFunction.Arguments arguments) {
        Matcher matcher = BRACES.matcher(format);
        StringBuilder result = new StringBuilder();
        int automatic = 0;
        boolean numbered = false;
        while (matcher.find()) {
            String field = matcher.group(1);
            String text;
            if (field == null) {
                text = matcher.group().substring(1);
            } else if (field.isEmpty()) {
                text = JinjaValues.text(arguments.get(automatic++, "{}"));
            } else if (field.chars().allMatch(Character::isDigit)) {
                numbered = true;
                text = JinjaValues.text(arguments.get(Integer.parseInt(field), field));
            } else {
                text = JinjaValues.text(arguments.get(Integer.MAX_VALUE, field));
            }
            if (numbered && automatic > 0) {
                throw new JinjaError("'format' has both {} and numbered fields");
            }
            matcher.appendReplacement(result, Matcher.quoteReplacement(text));
        }
        return matcher.appendTail(result).toString();
    }
}
