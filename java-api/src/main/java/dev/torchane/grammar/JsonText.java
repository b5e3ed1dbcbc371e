package dev.torchane.grammar;

import static dev.torchane.grammar.Node.UNBOUNDED;
import static dev.torchane.grammar.Node.any;
import static dev.torchane.grammar.Node.either;
import static dev.torchane.grammar.Node.optional;
import static dev.torchane.grammar.Node.sequence;
import static dev.torchane.grammar.Node.text;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The pieces of JSON text (RFC 8259).
 *
 * <p>White space: none around the whole value and before {@code ,} and {@code :}; after {@code :} at most one space; after
 * {@code ,} and inside non-empty brackets nothing, one space, or one line end with at most 20 spaces or tabs. So a model can write
 * compact or indented JSON and cannot go on with white space for ever.
 */
final class JsonText {

    private static final CodePoints DIGIT = CodePoints.range('0', '9');
    private static final Node HEX =
            new Node.Chars(DIGIT.or(CodePoints.range('a', 'f')).or(CodePoints.range('A', 'F')));
    private static final CodePoints ESCAPED = CodePoints.range(0, 0x1F).or(CodePoints.of('"', '\\'));
    private static final String SHORT_ESCAPES = "\b\f\n\r\t\"\\";
    private static final String SHORT_LETTERS = "bfnrt\"\\";

    /** Names of the rules that {@link #addTo} defines. */
    static final String VALUE = "JSON value";

    static final String OBJECT = "JSON object";
    static final String ARRAY = "JSON array";
    static final String STRING = "JSON string";
    static final String NUMBER = "JSON number";
    static final String SPACE = "JSON white space";
    static final String CHARACTER = "JSON character";
    private static final String ESCAPE = "JSON escape";
    private static final String REST = "JSON characters";

    private JsonText() {}

    static Node call(String rule) {
        return new Node.Call(rule);
    }

    /** Defines any JSON. */
    static void addTo(Map<String, Node> rules) {
        rules.put(
                VALUE,
                either(
                        call(OBJECT),
                        call(ARRAY),
                        call(STRING),
                        call(NUMBER),
                        new Node.Strings(List.of("true", "false", "null"))));
        Node member = sequence(call(STRING), colon(), call(VALUE));
        rules.put(OBJECT, either(text("{}"), enclosed("{", list(member, 1, UNBOUNDED), "}")));
        rules.put(ARRAY, either(text("[]"), enclosed("[", list(call(VALUE), 1, UNBOUNDED), "]")));
        rules.put(STRING, sequence(text("\""), any(call(CHARACTER)), text("\"")));
        rules.put(NUMBER, sequence(optional(text("-")), unsigned(UNBOUNDED, UNBOUNDED)));
        Node blank = new Node.Chars(CodePoints.of(' ', '\t'));
        rules.put(SPACE, either(Node.EMPTY, text(" "), sequence(text("\n"), new Node.Repeat(blank, 0, 20))));
        rules.put(CHARACTER, character());
        rules.put(ESCAPE, escapes(ESCAPED));
        rules.put(REST, any(characters(CodePoints.ALL)));
    }

    /** The members or items of an object or array that is not empty. */
    static Node enclosed(String open, Node inside, String close) {
        return sequence(text(open), call(SPACE), inside, call(SPACE), text(close));
    }

    /** From {@code min} (at least 1) to {@code max} items with commas between. */
    static Node list(Node item, int min, int max) {
        return sequence(
                item, new Node.Repeat(sequence(comma(), item), min - 1, max == UNBOUNDED ? UNBOUNDED : max - 1));
    }

    static Node comma() {
        return sequence(text(","), call(SPACE));
    }

    static Node colon() {
        return sequence(text(":"), optional(text(" ")));
    }

    /** A number without sign whose parts have at most so many digits; an exponent with bounded parts has at most two. */
    static Node unsigned(int integerDigits, int fractionDigits) {
        Node fraction = sequence(text("."), digits(1, fractionDigits));
        Node exponent = sequence(
                new Node.Chars(CodePoints.of('e', 'E')),
                optional(new Node.Chars(CodePoints.of('+', '-'))),
                digits(1, fractionDigits == UNBOUNDED ? UNBOUNDED : 2));
        Node nonZero = sequence(
                new Node.Chars(CodePoints.range('1', '9')),
                digits(0, integerDigits == UNBOUNDED ? UNBOUNDED : integerDigits - 1));
        return sequence(either(text("0"), nonZero), optional(fraction), optional(exponent));
    }

    static Node digits(int min, int max) {
        return new Node.Repeat(new Node.Chars(DIGIT), min, max);
    }

    /** Any character within a string, written in any way JSON allows; surrogates only in pairs. */
    private static Node character() {
        Node d = new Node.Chars(CodePoints.of('d', 'D'));
        Node notD = new Node.Chars(DIGIT.or(CodePoints.of('a', 'b', 'c', 'e', 'f', 'A', 'B', 'C', 'E', 'F')));
        Node high = new Node.Chars(CodePoints.of('8', '9', 'a', 'b', 'A', 'B'));
        Node low = new Node.Chars(CodePoints.range('c', 'f').or(CodePoints.range('C', 'F')));
        Node unit = either(
                sequence(notD, HEX, HEX, HEX),
                sequence(d, new Node.Chars(CodePoints.range('0', '7')), HEX, HEX),
                sequence(d, high, HEX, HEX, text("\\u"), d, low, HEX, HEX));
        return either(
                new Node.Chars(ESCAPED.not()),
                sequence(
                        text("\\"),
                        either(
                                new Node.Chars(CodePoints.of('"', '\\', '/', 'b', 'f', 'n', 'r', 't')),
                                sequence(text("u"), unit))));
    }

    /** Characters of a set as they stand in a string, each written in one way: the shortest. */
    static Node characters(CodePoints set) {
        Node plain = new Node.Chars(set.minus(ESCAPED));
        CodePoints escaped = set.minus(ESCAPED.not());
        if (escaped.isEmpty()) {
            return plain;
        }
        return either(plain, escaped.ranges().equals(ESCAPED.ranges()) ? call(ESCAPE) : escapes(escaped));
    }

    private static Node escapes(CodePoints set) {
        List<String> texts = new ArrayList<>();
        for (CodePoints.Range range : set.ranges()) {
            for (int c = range.first(); c <= range.last(); c++) {
                texts.add(escape(c));
            }
        }
        return new Node.Strings(texts);
    }

    private static String escape(int control) {
        int index = SHORT_ESCAPES.indexOf(control);
        return index < 0 ? String.format("\\u%04x", control) : "\\" + SHORT_LETTERS.charAt(index);
    }

    /** The text of a string value with its quotes, written in the shortest way. */
    static String quoted(String value) {
        StringBuilder text = new StringBuilder("\"");
        value.codePoints().forEach(c -> {
            if (ESCAPED.contains(c)) {
                text.append(escape(c));
            } else {
                text.appendCodePoint(c);
            }
        });
        return text.append('"').toString();
    }

    /** What a grammar over characters looks like within a string. */
    static Node escaped(Node plain) {
        return switch (plain) {
            case Node.Chars(CodePoints set) -> characters(set);
            case Node.Strings(List<String> values) ->
                new Node.Strings(values.stream()
                        .map(JsonText::quoted)
                        .map(quoted -> quoted.substring(1, quoted.length() - 1))
                        .toList());
            case Node.Sequence(List<Node> parts) ->
                new Node.Sequence(parts.stream().map(JsonText::escaped).toList());
            case Node.Either(List<Node> options) ->
                new Node.Either(options.stream().map(JsonText::escaped).toList());
            case Node.Repeat(Node body, int min, int max) -> new Node.Repeat(escaped(body), min, max);
            case Node.Call call -> call;
        };
    }

    /** A string, quotes and all, that is none of these; every other string, each written in one way. */
    static Node stringBut(Collection<String> excluded) {
        return sequence(
                text("\""),
                tailBut(
                        excluded.stream()
                                .map(name -> name.codePoints().toArray())
                                .toList(),
                        0),
                text("\""));
    }

    /** What may follow so many characters that the names have in common. */
    private static Node tailBut(List<int[]> names, int depth) {
        Map<Integer, List<int[]>> branches = new TreeMap<>();
        boolean mayEnd = true;
        CodePoints taken = CodePoints.NONE;
        for (int[] name : names) {
            if (name.length == depth) {
                mayEnd = false;
            } else {
                branches.computeIfAbsent(name[depth], c -> new ArrayList<>()).add(name);
                taken = taken.or(CodePoints.of(name[depth]));
            }
        }
        List<Node> options = new ArrayList<>();
        options.add(sequence(characters(taken.not()), call(REST)));
        if (mayEnd) {
            options.add(Node.EMPTY);
        }
        branches.forEach((c, below) -> options.add(sequence(characters(CodePoints.of(c)), tailBut(below, depth + 1))));
        return new Node.Either(options);
    }
}
