package dev.torchane.text;

import dev.torchane.text.JinjaValues.Undefined;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Jinja's filters, {@code value | name(arguments)}, with transformers' {@code tojson}. */
final class JinjaFilters {

    private JinjaFilters() {}

    static Object apply(String name, Object value, JinjaFunction.Arguments a) {
        return switch (name) {
            case "tojson" -> JinjaJson.write(value, a);
            case "default", "d" -> {
                boolean missing = value instanceof Undefined
                        || JinjaValues.truth(a.get(1, "boolean", false)) && !JinjaValues.truth(value);
                yield missing ? a.get(0, "default_value", "") : value;
            }
            case "length", "count" -> JinjaValues.length(value);
            case "string" -> JinjaValues.text(value);
            case "safe" -> JinjaValues.text(value);
            case "trim" ->
                JinjaMethods.of(JinjaValues.text(value), "strip").orElseThrow().call(a);
            case "upper" -> JinjaValues.text(value).toUpperCase(Locale.ROOT);
            case "lower" -> JinjaValues.text(value).toLowerCase(Locale.ROOT);
            case "capitalize" -> JinjaMethods.capitalize(JinjaValues.text(value));
            case "title" -> JinjaTextFilters.title(JinjaValues.text(value));
            case "replace" ->
                JinjaMethods.replace(
                        JinjaValues.text(value),
                        JinjaValues.text(a.get(0, "old")),
                        JinjaValues.text(a.get(1, "new")),
                        a.get(2, "count", null));
            case "indent" -> JinjaTextFilters.indent(JinjaValues.text(value), a);
            case "truncate" -> JinjaTextFilters.truncate(JinjaValues.text(value), a);
            case "wordcount" -> (long) JinjaTextFilters.words(JinjaValues.text(value));
            case "escape", "e" -> JinjaTextFilters.escape(JinjaValues.text(value));
            case "urlencode" -> JinjaTextFilters.urlEncode(JinjaValues.text(value));
            case "format" -> JinjaFormat.percent(JinjaValues.text(value), a.positional());
            case "join" -> join(value, a);
            case "list" -> JinjaValues.items(value);
            case "first" -> edge(JinjaValues.items(value), true);
            case "last" -> edge(JinjaValues.items(value), false);
            case "reverse" ->
                value instanceof String text
                        ? new StringBuilder(text).reverse().toString()
                        : JinjaValues.items(value).reversed();
            case "items" ->
                value instanceof Undefined
                        ? List.of()
                        : JinjaMethods.of(value, "items")
                                .orElseThrow(
                                        () -> new JinjaError("'items' needs a map, found " + JinjaValues.type(value)))
                                .call(JinjaFunction.Arguments.NONE);
            case "dictsort" -> dictSort(value, a);
            case "sort" -> sort(value, a);
            case "unique" -> unique(value, a);
            case "groupby" -> groupBy(value, a);
            case "map" -> map(value, a);
            case "select" -> select(value, a, true, false);
            case "reject" -> select(value, a, false, false);
            case "selectattr" -> select(value, a, true, true);
            case "rejectattr" -> select(value, a, false, true);
            case "batch" -> batch(value, a);
            case "sum" -> sum(value, a);
            case "min" -> extreme(value, a, Comparator.naturalOrder());
            case "max" -> extreme(value, a, Comparator.reverseOrder());
            case "abs" ->
                value instanceof Double number
                        ? (Object) Math.abs(number)
                        : (Object) Math.abs(JinjaValues.whole(value));
            case "int" -> JinjaTextFilters.whole(value, a);
            case "float" -> JinjaTextFilters.real(value, a.get(0, "default", 0.0));
            case "round" -> JinjaTextFilters.round(value, a);
            default -> throw new JinjaError("there is no filter '" + name + "'");
        };
    }

    private static Object edge(List<Object> items, boolean first) {
        if (items.isEmpty()) {
            return new Undefined(first ? "the first item of an empty list" : "the last item of an empty list");
        }
        return first ? items.getFirst() : items.getLast();
    }

    private static String join(Object value, JinjaFunction.Arguments a) {
        String separator = JinjaValues.text(a.get(0, "d", ""));
        Object attribute = a.get(1, "attribute", null);
        StringBuilder joined = new StringBuilder();
        boolean first = true;
        for (Object item : JinjaValues.items(value)) {
            joined.append(first ? "" : separator).append(JinjaValues.text(attribute(item, attribute)));
            JinjaLimits.output(joined.length());
            first = false;
        }
        return joined.toString();
    }

    /** {@code a.b.0} of an item; the item itself for None. */
    static Object attribute(Object item, Object path) {
        if (path == null) {
            return item;
        }
        Object value = item;
        for (String part : JinjaValues.text(path).split("\\.")) {
            boolean index = !part.isEmpty() && part.chars().allMatch(Character::isDigit);
            value = JinjaEvaluator.item(value, index ? (Object) Long.valueOf(part) : part);
        }
        return value;
    }

    private static int compare(Object a, Object b, boolean caseSensitive) {
        boolean fold = !caseSensitive && a instanceof String && b instanceof String;
        return fold
                ? JinjaStrings.compare(((String) a).toLowerCase(Locale.ROOT), ((String) b).toLowerCase(Locale.ROOT))
                : JinjaValues.compare(a, b, "sort");
    }

    private static Object sort(Object value, JinjaFunction.Arguments a) {
        boolean reverse = JinjaValues.truth(a.get(0, "reverse", false));
        boolean caseSensitive = JinjaValues.truth(a.get(1, "case_sensitive", false));
        Object attribute = a.get(2, "attribute", null);
        List<Object> items = JinjaValues.items(value);
        Comparator<Object> order = (x, y) -> compare(attribute(x, attribute), attribute(y, attribute), caseSensitive);
        items.sort(reverse ? order.reversed() : order);
        return items;
    }

    private static Object dictSort(Object value, JinjaFunction.Arguments a) {
        if (!(value instanceof Map<?, ?> map)) {
            throw new JinjaError("'dictsort' needs a map, found " + JinjaValues.type(value));
        }
        boolean caseSensitive = JinjaValues.truth(a.get(0, "case_sensitive", false));
        int by = a.get(1, "by", "key").equals("value") ? 1 : 0;
        boolean reverse = JinjaValues.truth(a.get(2, "reverse", false));
        List<List<Object>> pairs = new ArrayList<>();
        map.forEach((key, item) -> pairs.add(JinjaMethods.pair(key, item)));
        Comparator<List<Object>> order = (x, y) -> compare(x.get(by), y.get(by), caseSensitive);
        pairs.sort(reverse ? order.reversed() : order);
        return pairs;
    }

    private static Object unique(Object value, JinjaFunction.Arguments a) {
        boolean caseSensitive = JinjaValues.truth(a.get(0, "case_sensitive", false));
        Object attribute = a.get(1, "attribute", null);
        Map<Object, Object> seen = new LinkedHashMap<>();
        for (Object item : JinjaValues.items(value)) {
            Object key = attribute(item, attribute);
            seen.putIfAbsent(!caseSensitive && key instanceof String text ? text.toLowerCase(Locale.ROOT) : key, item);
        }
        return new ArrayList<>(seen.values());
    }

    private static Object groupBy(Object value, JinjaFunction.Arguments a) {
        Object attribute = a.get(0, "attribute");
        Map<Object, List<Object>> groups = new LinkedHashMap<>();
        for (Object item : JinjaValues.items(value)) {
            groups.computeIfAbsent(attribute(item, attribute), key -> new ArrayList<>())
                    .add(item);
        }
        List<Object> keys = new ArrayList<>(groups.keySet());
        keys.sort((x, y) -> compare(x, y, false));
        List<Object> result = new ArrayList<>();
        keys.forEach(key -> result.add(JinjaMethods.pair(key, groups.get(key))));
        return result;
    }

    private static Object map(Object value, JinjaFunction.Arguments a) {
        List<Object> mapped = new ArrayList<>();
        for (Object item : itemsUnlessFalse(value)) {
            if (a.named().containsKey("attribute")) {
                Object found = attribute(item, a.named().get("attribute"));
                mapped.add(found instanceof Undefined ? a.named().getOrDefault("default", found) : found);
            } else {
                mapped.add(apply(a.string(0, "filter"), item, a.from(1)));
            }
        }
        return mapped;
    }

    private static Object select(Object value, JinjaFunction.Arguments a, boolean keep, boolean byAttribute) {
        int shift = byAttribute ? 1 : 0;
        List<Object> kept = new ArrayList<>();
        for (Object item : itemsUnlessFalse(value)) {
            Object tested = byAttribute ? attribute(item, a.get(0, "attribute")) : item;
            boolean passes = a.count() > shift
                    ? JinjaTests.apply(a.string(shift, "test"), tested, a.from(shift + 1))
                    : JinjaValues.truth(tested);
            if (passes == keep) {
                kept.add(item);
            }
        }
        return kept;
    }

    /** Jinja's map and select take None and every other false value for an empty list. */
    private static List<Object> itemsUnlessFalse(Object value) {
        return JinjaValues.truth(value) ? JinjaValues.items(value) : List.of();
    }

    private static Object batch(Object value, JinjaFunction.Arguments a) {
        int size = Math.toIntExact(Math.clamp(JinjaValues.whole(a.get(0, "linecount")), 1, JinjaLimits.RANGE));
        Object fill = a.get(1, "fill_with", null);
        List<Object> batches = new ArrayList<>();
        List<Object> items = JinjaValues.items(value);
        for (int start = 0; start < items.size(); start += size) {
            List<Object> batch = new ArrayList<>(items.subList(start, Math.min(start + size, items.size())));
            while (fill != null && batch.size() < size) {
                batch.add(fill);
            }
            batches.add(batch);
        }
        return batches;
    }

    private static Object sum(Object value, JinjaFunction.Arguments a) {
        Object total = a.get(1, "start", 0L);
        for (Object item : JinjaValues.items(value)) {
            total = JinjaArithmetic.apply("+", total, attribute(item, a.get(0, "attribute", null)));
        }
        return total;
    }

    private static Object extreme(Object value, JinjaFunction.Arguments a, Comparator<Integer> order) {
        Object attribute = a.get(1, "attribute", null);
        List<Object> items = JinjaValues.items(value);
        if (items.isEmpty()) {
            return new Undefined("the smallest or largest item of an empty list");
        }
        return Collections.min(
                items, (x, y) -> order.compare(compare(attribute(x, attribute), attribute(y, attribute), false), 0));
    }
}
