package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads values of tuples, lists and dictionaries as lists of lists, strings and numbers, and what they say of shapes. */
final class MilValueParser extends MilGrammar {

    private int depth;

    MilValueParser(MilLexer lexer) {
        super(lexer);
    }

    /** The value in the parentheses behind a type, which was read. */
    Object value() {
        punctuation('(');
        Object value = lexer.kind() == ')' ? List.of() : any();
        punctuation(')');
        return value;
    }

    private Object any() {
        return switch (lexer.kind()) {
            case MilLexer.STRING -> string();
            case MilLexer.NUMBER -> {
                double number = lexer.number();
                lexer.advance();
                yield number;
            }
            case '(' -> items(')');
            case '[' -> items(']');
            case '{' -> items('}');
            case MilLexer.NAME -> named();
            default -> throw lexer.expected("a value");
        };
    }

    /** A truth value, or a value with its type written out. */
    private Object named() {
        int offset = lexer.offset();
        String word = name("a value");
        if (word.equals("true") || word.equals("false")) {
            return word.equals("true");
        }
        milType(offset, word);
        punctuation('(');
        deeper();
        Object value = any();
        depth--;
        punctuation(')');
        return value;
    }

    private List<Object> items(int close) {
        deeper();
        lexer.advance();
        List<Object> items = new ArrayList<>();
        while (lexer.kind() != close) {
            items.add(any());
            separator(close);
        }
        lexer.advance();
        depth--;
        return items;
    }

    private void deeper() {
        if (++depth > DEEPEST) {
            throw lexer.expected("values at most " + DEEPEST + " deep");
        }
    }

    /** What the value of {@code FlexibleShapeInformation} says; parts of another form are left out. */
    static FlexibleShapes shapes(Object value) {
        Map<String, Object> parts = pairs(value);
        Map<String, Map<String, List<Integer>>> enumerated = new LinkedHashMap<>();
        pairs(parts.get("EnumeratedShapes")).forEach((key, choice) -> {
            Map<String, List<Integer>> shapes = shapesByName(choice);
            if (!shapes.isEmpty()) {
                enumerated.put(key, shapes);
            } else if (choice instanceof List<?> list) { // one input's shapes in a list
                for (int i = 0; i < list.size(); i++) {
                    List<Integer> shape = integers(list.get(i));
                    enumerated
                            .computeIfAbsent(Integer.toString(i), _ -> new LinkedHashMap<>())
                            .put(key, shape);
                }
            }
        });
        Map<String, List<FlexibleShapes.Range>> ranges = new LinkedHashMap<>();
        pairs(parts.get("RangeDims")).forEach((name, axes) -> ranges.put(name, ranges(axes)));
        return new FlexibleShapes(shapesByName(parts.get("DefaultShapes")), enumerated, ranges);
    }

    private static Map<String, List<Integer>> shapesByName(Object value) {
        Map<String, List<Integer>> shapes = new LinkedHashMap<>();
        pairs(value).forEach((name, shape) -> shapes.put(name, integers(shape)));
        return shapes;
    }

    private static List<FlexibleShapes.Range> ranges(Object axes) {
        List<FlexibleShapes.Range> ranges = new ArrayList<>();
        if (axes instanceof List<?> list) {
            for (Object axis : list) {
                List<Integer> ends = integers(axis);
                if (ends.size() == 2) {
                    int most = ends.get(1);
                    ranges.add(new FlexibleShapes.Range(
                            ends.get(0), most < 0 || most == Integer.MAX_VALUE ? MilType.OPEN : most));
                }
            }
        }
        return ranges;
    }

    /** Pairs whose first part is a string. */
    private static Map<String, Object> pairs(Object value) {
        Map<String, Object> pairs = new LinkedHashMap<>();
        if (value instanceof List<?> list) {
            for (Object item : list) {
                if (item instanceof List<?> pair && pair.size() == 2 && pair.getFirst() instanceof String key) {
                    pairs.put(key, pair.getLast());
                }
            }
        }
        return pairs;
    }

    private static List<Integer> integers(Object value) {
        List<Integer> integers = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (Object item : list) {
                if (item instanceof Double number) {
                    integers.add(number.intValue());
                }
            }
        }
        return integers;
    }
}
