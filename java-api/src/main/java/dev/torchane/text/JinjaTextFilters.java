package dev.torchane.text;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The filters that work on one text or number. */
final class JinjaTextFilters {

    private static final Pattern TITLE_BREAK = Pattern.compile("[-\\s({\\[<]+");

    private JinjaTextFilters() {}

    static String title(String text) {
        StringBuilder result = new StringBuilder();
        Matcher matcher = TITLE_BREAK.matcher(text);
        int start = 0;
        while (matcher.find()) {
            result.append(JinjaMethods.capitalize(text.substring(start, matcher.start())))
                    .append(matcher.group());
            start = matcher.end();
        }
        return result.append(JinjaMethods.capitalize(text.substring(start))).toString();
    }

    static String indent(String text, JinjaFunction.Arguments a) {
        Object width = a.get(0, "width", 4L);
        String indent = width instanceof String given
                ? given
                : " ".repeat(Math.toIntExact(Math.clamp(JinjaValues.whole(width), 0, 1000)));
        boolean first = JinjaValues.truth(a.get(1, "first", false));
        boolean blank = JinjaValues.truth(a.get(2, "blank", false));
        List<String> lines = (text + "\n").lines().toList();
        StringBuilder result = new StringBuilder(first ? indent : "");
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean indented = i > 0 && (blank || !line.isEmpty());
            result.append(i > 0 ? "\n" : "").append(indented ? indent : "").append(line);
            JinjaLimits.output(result.length());
        }
        return result.toString();
    }

    static String truncate(String text, JinjaFunction.Arguments a) {
        int length = Math.toIntExact(Math.clamp(JinjaValues.whole(a.get(0, "length", 255L)), 0, JinjaLimits.OUTPUT));
        boolean killWords = JinjaValues.truth(a.get(1, "killwords", false));
        String end = JinjaValues.text(a.get(2, "end", "..."));
        int leeway = Math.toIntExact(Math.clamp(JinjaValues.whole(a.get(3, "leeway", 5L)), 0, JinjaLimits.OUTPUT));
        if (text.length() <= length + leeway) {
            return text;
        }
        String cut = text.substring(0, Math.max(0, length - end.length()));
        int space = cut.lastIndexOf(' ');
        return (killWords || space < 0 ? cut : cut.substring(0, space)) + end;
    }

    static int words(String text) {
        int count = 0;
        Matcher matcher =
                Pattern.compile("\\w+", Pattern.UNICODE_CHARACTER_CLASS).matcher(text);
        while (matcher.find()) {
            count++;
        }
        return count;
    }

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("'", "&#39;")
                .replace("\"", "&#34;");
    }

    static String urlEncode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%2F", "/")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }

    static Object whole(Object value, JinjaFunction.Arguments a) {
        Object otherwise = a.get(0, "default", 0L);
        int base = Math.toIntExact(JinjaValues.whole(a.get(1, "base", 10L)));
        try {
            return switch (value) {
                case Long number -> number;
                case Double number -> number.longValue();
                case Boolean truth -> truth ? 1L : 0L;
                case String text -> {
                    String digits = text.strip().replace("_", "");
                    if (base == 16 && digits.regionMatches(true, 0, "0x", 0, 2)) {
                        digits = digits.substring(2);
                    }
                    yield digits.matches("[+-]?\\w+")
                            ? Long.parseLong(digits, base)
                            : (long) Double.parseDouble(digits);
                }
                case null, default -> otherwise;
            };
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    static Object real(Object value, Object otherwise) {
        try {
            return switch (value) {
                case String text -> Double.valueOf(text.strip());
                case null -> otherwise;
                default -> JinjaValues.isNumber(value) ? JinjaValues.real(value, "float") : otherwise;
            };
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    static Object round(Object value, JinjaFunction.Arguments a) {
        int precision = Math.toIntExact(Math.clamp(JinjaValues.whole(a.get(0, "precision", 0L)), -300, 300));
        RoundingMode mode = switch (JinjaValues.text(a.get(1, "method", "common"))) {
            case "ceil" -> RoundingMode.CEILING;
            case "floor" -> RoundingMode.FLOOR;
            default -> RoundingMode.HALF_EVEN;
        };
        if (value instanceof Long && precision >= 0 && mode == RoundingMode.HALF_EVEN) {
            return value;
        }
        double number = JinjaValues.real(value, "round");
        return new BigDecimal(number).setScale(precision, mode).doubleValue();
    }
}
