package dev.torchane.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Methods of strings, lists and maps that a sandboxed template may call: none of them changes its object. */
final class JinjaMethods {

    private JinjaMethods() {}

    static Optional<JinjaFunction> of(Object object, String name) {
        return Optional.ofNullable(
                switch (object) {
                    case String text -> ofString(text, name);
                    case List<?> list -> ofList(list, name);
                    case Map<?, ?> map -> ofMap(map, name);
                    case null, default -> null;
                });
    }

    private static JinjaFunction ofMap(Map<?, ?> map, String name) {
        return switch (name) {
            case "items" ->
                a -> {
                    List<Object> pairs = new ArrayList<>();
                    map.forEach((key, value) -> pairs.add(pair(key, value)));
                    return pairs;
                };
            case "keys" -> a -> new ArrayList<Object>(map.keySet());
            case "values" -> a -> new ArrayList<Object>(map.values());
            case "get" ->
                a -> {
                    Object key = a.get(0, "key");
                    return map.containsKey(key) ? map.get(key) : a.get(1, "default", null);
                };
            case "copy" -> a -> new LinkedHashMap<Object, Object>(map);
            case "update", "pop", "clear", "setdefault", "popitem" ->
                a -> {
                    throw new JinjaError("a template may not change a map with '" + name + "'");
                };
            default -> null;
        };
    }

    private static JinjaFunction ofList(List<?> list, String name) {
        return switch (name) {
            case "index" ->
                a -> {
                    for (int i = 0; i < list.size(); i++) {
                        if (JinjaValues.equal(list.get(i), a.get(0, "value"))) {
                            return (long) i;
                        }
                    }
                    throw new JinjaError("the value is not in the list");
                };
            case "count" ->
                a -> list.stream()
                        .filter(item -> JinjaValues.equal(item, a.get(0, "value")))
                        .count();
            case "copy" -> a -> new ArrayList<Object>(list);
            case "append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort" ->
                a -> {
                    throw new JinjaError("a template may not change a list with '" + name + "'");
                };
            default -> null;
        };
    }

    private static JinjaFunction ofString(String text, String name) {
        return switch (name) {
            case "strip" -> a -> JinjaStrings.stripEnd(JinjaStrings.stripStart(text, stripped(a)), stripped(a));
            case "lstrip" -> a -> JinjaStrings.stripStart(text, stripped(a));
            case "rstrip" -> a -> JinjaStrings.stripEnd(text, stripped(a));
            case "split" -> a -> split(text, a.get(0, "sep", null), limit(a));
            case "rsplit" -> a -> splitFromEnd(text, a.get(0, "sep", null), limit(a));
            case "splitlines" -> a -> lines(text);
            case "partition" -> a -> partition(text, text.indexOf(a.string(0, "sep")), a.string(0, "sep"), true);
            case "rpartition" -> a -> partition(text, text.lastIndexOf(a.string(0, "sep")), a.string(0, "sep"), false);
            case "startswith" -> a -> any(a.get(0, "prefix"), text::startsWith);
            case "endswith" -> a -> any(a.get(0, "suffix"), text::endsWith);
            case "removeprefix" ->
                a -> {
                    String prefix = a.string(0, "prefix");
                    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
                };
            case "removesuffix" ->
                a -> {
                    String suffix = a.string(0, "suffix");
                    return text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
                };
            case "replace" -> a -> replace(text, a.string(0, "old"), a.string(1, "new"), a.get(2, "count", -1L));
            case "upper" -> a -> text.toUpperCase(Locale.ROOT);
            case "lower", "casefold" -> a -> text.toLowerCase(Locale.ROOT);
            case "title" -> a -> title(text);
            case "capitalize" -> a -> capitalize(text);
            case "join" -> a -> join(text, JinjaValues.items(a.get(0, "iterable")));
            case "find" -> a -> index(text, text.indexOf(a.string(0, "sub")));
            case "rfind" -> a -> index(text, text.lastIndexOf(a.string(0, "sub")));
            case "index" ->
                a -> {
                    long found = index(text, text.indexOf(a.string(0, "sub")));
                    if (found < 0) {
                        throw new JinjaError("the substring is not in the string");
                    }
                    return found;
                };
            case "count" -> a -> count(text, a.string(0, "sub"));
            case "format" -> a -> JinjaFormat.braces(text, a);
            case "zfill" ->
                a -> {
                    int width = Math.toIntExact(Math.clamp(JinjaValues.whole(a.get(0, "width")), 0, 10_000));
                    int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
                    return text.substring(0, sign)
                            + "0".repeat(Math.max(0, width - text.length()))
                            + text.substring(sign);
                };
            case "isdigit", "isdecimal", "isnumeric" -> a -> all(text, Character::isDigit);
            case "isalpha" -> a -> all(text, Character::isLetter);
            case "isalnum" -> a -> all(text, Character::isLetterOrDigit);
            case "isspace" -> a -> all(text, JinjaStrings::isSpace);
            case "isupper" -> a -> JinjaTests.apply("upper", text, a);
            case "islower" -> a -> JinjaTests.apply("lower", text, a);
            default -> null;
        };
    }

    static List<Object> pair(Object first, Object second) {
        List<Object> pair = new ArrayList<>(2);
        pair.add(first);
        pair.add(second);
        return new JinjaTuple(pair);
    }

    private static IntPredicate stripped(JinjaFunction.Arguments arguments) {
        Object characters = arguments.get(0, "chars", null);
        if (characters == null) {
            return JinjaStrings::isSpace;
        }
        String set = JinjaValues.string(characters, "strip");
        return c -> set.indexOf(c) >= 0;
    }

    private static long limit(JinjaFunction.Arguments arguments) {
        long limit = JinjaValues.whole(arguments.get(1, "maxsplit", -1L));
        return limit < 0 ? Long.MAX_VALUE : limit;
    }

    private static List<Object> split(String text, Object separator, long limit) {
        List<Object> parts = new ArrayList<>();
        if (separator == null) {
            String rest = JinjaStrings.stripStart(text, JinjaStrings::isSpace);
            while (!rest.isEmpty()) {
                int end = 0;
                while (end < rest.length() && !JinjaStrings.isSpace(rest.charAt(end))) {
                    end++;
                }
                if (parts.size() == limit) {
                    parts.add(JinjaStrings.stripEnd(rest, JinjaStrings::isSpace));
                    return parts;
                }
                parts.add(rest.substring(0, end));
                rest = JinjaStrings.stripStart(rest.substring(end), JinjaStrings::isSpace);
            }
            return parts;
        }
        String mark = nonEmpty(separator);
        int start = 0;
        for (int at = text.indexOf(mark); at >= 0 && parts.size() < limit; at = text.indexOf(mark, start)) {
            parts.add(text.substring(start, at));
            start = at + mark.length();
        }
        parts.add(text.substring(start));
        return parts;
    }

    private static List<Object> splitFromEnd(String text, Object separator, long limit) {
        if (separator == null || limit == Long.MAX_VALUE) {
            return split(text, separator, limit);
        }
        String mark = nonEmpty(separator);
        List<Object> parts = new ArrayList<>();
        String rest = text;
        for (int at = rest.lastIndexOf(mark); at >= 0 && parts.size() < limit; at = rest.lastIndexOf(mark)) {
            parts.addFirst(rest.substring(at + mark.length()));
            rest = rest.substring(0, at);
        }
        parts.addFirst(rest);
        return parts;
    }

    private static String nonEmpty(Object separator) {
        String mark = JinjaValues.string(separator, "split");
        if (mark.isEmpty()) {
            throw new JinjaError("'split' has an empty separator");
        }
        return mark;
    }

    private static List<Object> lines(String text) {
        List<Object> lines = new ArrayList<>();
        text.lines().forEach(lines::add);
        return lines;
    }

    private static List<Object> partition(String text, int at, String mark, boolean first) {
        if (at >= 0) {
            return new JinjaTuple(List.of(text.substring(0, at), mark, text.substring(at + mark.length())));
        }
        return new JinjaTuple(first ? List.of(text, "", "") : List.of("", "", text));
    }

    private static boolean any(Object wanted, java.util.function.Predicate<String> matches) {
        return wanted instanceof List<?> list
                ? list.stream().anyMatch(item -> matches.test(JinjaValues.string(item, "startswith")))
                : matches.test(JinjaValues.string(wanted, "startswith"));
    }

    static String replace(String text, String old, String replacement, Object count) {
        long limit = count == null ? -1 : JinjaValues.whole(count);
        long occurrences = old.isEmpty() ? text.length() + 1L : count(text, old);
        JinjaLimits.output(text.length() + occurrences * replacement.length());
        if (limit < 0) {
            return text.replace(old, replacement);
        }
        StringBuilder result = new StringBuilder();
        int start = 0;
        for (int at = text.indexOf(old); at >= 0 && limit > 0 && !old.isEmpty(); at = text.indexOf(old, start)) {
            result.append(text, start, at).append(replacement);
            start = at + old.length();
            limit--;
        }
        return result.append(text.substring(start)).toString();
    }

    static String title(String text) {
        StringBuilder result = new StringBuilder();
        boolean inside = false;
        for (int c : text.codePoints().toArray()) {
            result.appendCodePoint(inside ? Character.toLowerCase(c) : Character.toTitleCase(c));
            inside = Character.isLetter(c);
        }
        return result.toString();
    }

    static String capitalize(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = text.codePointAt(0);
        return Character.toString(Character.toTitleCase(first))
                + text.substring(Character.charCount(first)).toLowerCase(Locale.ROOT);
    }

    private static String join(String separator, List<Object> items) {
        List<String> texts = new ArrayList<>();
        long length = 0;
        for (Object item : items) {
            String text = JinjaValues.string(item, "join");
            length += text.length() + separator.length();
            JinjaLimits.output(length);
            texts.add(text);
        }
        return String.join(separator, texts);
    }

    private static long index(String text, int at) {
        return at < 0 ? -1 : text.codePointCount(0, at);
    }

    private static long count(String text, String part) {
        if (part.isEmpty()) {
            return JinjaStrings.length(text) + 1L;
        }
        long count = 0;
        for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
            count++;
        }
        return count;
    }

    private static boolean all(String text, IntPredicate matches) {
        return !text.isEmpty() && text.codePoints().allMatch(matches);
    }
}
