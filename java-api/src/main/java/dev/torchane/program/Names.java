package dev.torchane.program;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Names of a function: MIL identifiers, each used once. */
final class Names {

    private final Set<String> taken = new HashSet<>();
    private final Map<String, Integer> next = new HashMap<>();

    /** Whether a name is an identifier of MIL text. */
    static boolean identifier(String name) {
        if (name.isEmpty() || (name.charAt(0) >= '0' && name.charAt(0) <= '9')) {
            return false;
        }
        return name.chars().allMatch(Names::part);
    }

    private static boolean part(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
    }

    /** The nearest identifier: other characters become underscores. */
    static String sanitize(String name) {
        StringBuilder result = new StringBuilder(name.length() + 1);
        for (int i = 0; i < name.length(); i++) {
            result.append(part(name.charAt(i)) ? name.charAt(i) : '_');
        }
        if (result.isEmpty() || (result.charAt(0) >= '0' && result.charAt(0) <= '9')) {
            result.insert(0, '_');
        }
        return result.toString();
    }

    /** Takes exactly this name. */
    String exactly(String what, String name) {
        if (!identifier(name)) {
            throw new IllegalArgumentException(
                    what + " '" + name + "' is not a MIL identifier: letters, digits, _ and @, no digit first");
        }
        if (!taken.add(name)) {
            throw new IllegalArgumentException(what + " '" + name + "' is already the name of another value");
        }
        return name;
    }

    /** Takes the name, or the first free one derived from it. */
    String derived(String wanted) {
        String base = sanitize(wanted);
        if (taken.add(base)) {
            return base;
        }
        int n = next.getOrDefault(base, 1);
        while (!taken.add(base + "_" + n)) {
            n++;
        }
        next.put(base, n + 1);
        return base + "_" + n;
    }

    /** A readable name for a small constant, such as {@code int32s_1_3_m1} or {@code fp32_1_0Em5}. */
    static String of(Literal literal) {
        String name = switch (literal) {
            case Literal.Text(String text) -> "string_" + text;
            case Literal.Texts texts -> "strings";
            case Literal.Bool(boolean value) -> "bool_" + value;
            case Literal.Blob blob -> "weight_" + blob.offset();
            case Literal.Numbers(TensorType type, List<Double> values) -> {
                StringBuilder text = new StringBuilder(type.dtype().mil() + (type.rank() == 0 ? "" : "s"));
                for (int i = 0; i < Math.min(values.size(), 6); i++) {
                    double value = values.get(i);
                    String number = value == Math.rint(value) && Math.abs(value) < 1e9
                            ? Long.toString((long) value)
                            : Float.toString((float) value);
                    text.append('_').append(number.replace("-", "m"));
                }
                yield text.append(values.size() > 6 ? "_etc" : "").toString();
            }
        };
        return sanitize(name.length() > 48 ? name.substring(0, 48) : name);
    }
}
