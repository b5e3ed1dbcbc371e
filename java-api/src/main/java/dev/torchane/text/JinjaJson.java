package dev.torchane.text;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code tojson} as transformers defines it: Python's {@code json.dumps} with {@code ensure_ascii=False}. */
final class JinjaJson {

    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sortKeys;
    private final boolean ascii;
    private final StringBuilder out = new StringBuilder();

    private JinjaJson(JinjaFunction.Arguments arguments) {
        Object indentation = arguments.get(1, "indent", null);
        this.indent = switch (indentation) {
            case null -> null;
            case String text -> text;
            default -> " ".repeat(Math.toIntExact(Math.clamp(JinjaValues.whole(indentation), 0, 100)));
        };
        Object separators = arguments.get(2, "separators", null);
        if (separators instanceof List<?> pair && pair.size() == 2) {
            this.itemSeparator = JinjaValues.string(pair.get(0), "separators");
            this.keySeparator = JinjaValues.string(pair.get(1), "separators");
        } else {
            this.itemSeparator = indent == null ? ", " : ",";
            this.keySeparator = ": ";
        }
        this.ascii = JinjaValues.truth(arguments.get(0, "ensure_ascii", false));
        this.sortKeys = JinjaValues.truth(arguments.get(3, "sort_keys", false));
    }

    static String write(Object value, JinjaFunction.Arguments arguments) {
        JinjaJson json = new JinjaJson(arguments);
        json.value(value, 0);
        return json.out.toString();
    }

    private void value(Object value, int depth) {
        JinjaLimits.output(out.length());
        if (depth > JinjaLimits.DEPTH) {
            throw new JinjaError("'tojson' goes deeper than " + JinjaLimits.DEPTH);
        }
        switch (value) {
            case null -> out.append("null");
            case Boolean truth -> out.append(truth);
            case Long number -> out.append(number);
            case BigInteger number -> out.append(number);
            case Double number -> out.append(real(number));
            case String text -> string(text);
            case List<?> list -> list(list, depth);
            case Map<?, ?> map -> map(map, depth);
            default -> throw new JinjaError("'tojson' cannot write " + JinjaValues.type(value));
        }
    }

    private static String real(double number) {
        if (Double.isNaN(number)) {
            return "NaN";
        }
        return Double.isInfinite(number) ? (number > 0 ? "Infinity" : "-Infinity") : JinjaValues.real(number);
    }

    private void list(List<?> list, int depth) {
        if (list.isEmpty()) {
            out.append("[]");
            return;
        }
        out.append('[');
        for (int i = 0; i < list.size(); i++) {
            separate(i, depth + 1);
            value(list.get(i), depth + 1);
        }
        newLine(depth);
        out.append(']');
    }

    private void map(Map<?, ?> map, int depth) {
        if (map.isEmpty()) {
            out.append("{}");
            return;
        }
        List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
        if (sortKeys) {
            entries.sort((a, b) -> JinjaValues.compare(a.getKey(), b.getKey(), "sort_keys"));
        }
        out.append('{');
        for (int i = 0; i < entries.size(); i++) {
            separate(i, depth + 1);
            string(key(entries.get(i).getKey()));
            out.append(keySeparator);
            value(entries.get(i).getValue(), depth + 1);
        }
        newLine(depth);
        out.append('}');
    }

    private static String key(Object key) {
        return switch (key) {
            case null -> "null";
            case Boolean truth -> truth.toString();
            default -> JinjaValues.text(key);
        };
    }

    private void separate(int index, int depth) {
        if (index > 0) {
            out.append(itemSeparator);
        }
        newLine(depth);
    }

    private void newLine(int depth) {
        if (indent != null) {
            out.append('\n').append(indent.repeat(depth));
        }
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (c < 0x20 || ascii && c > 0x7E) {
                        out.append("\\u%04x".formatted((int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
