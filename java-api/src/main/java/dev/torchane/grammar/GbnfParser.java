package dev.torchane.grammar;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads llama.cpp's GBNF, see {@link Grammar#gbnf}. */
final class GbnfParser {

    private static final int MAX_QUANTIFIERS = 16;

    private final TextCursor cursor;
    private final Map<String, Node> rules = new LinkedHashMap<>();
    private final Map<String, Integer> definitions = new HashMap<>();
    private final Map<String, Integer> references = new LinkedHashMap<>();

    GbnfParser(String text) {
        cursor = TextCursor.ofLines(text);
    }

    Rules parse() {
        space(true);
        while (!cursor.atEnd()) {
            rule();
            space(true);
        }
        references.forEach((name, index) -> {
            if (!rules.containsKey(name)) {
                throw cursor.error(index, "unknown rule " + name + "; rules are " + String.join(", ", rules.keySet()));
            }
        });
        if (!rules.containsKey("root")) {
            throw cursor.error(cursor.index(), "there is no rule root; the output must match root");
        }
        return new Rules("root", rules, rule -> cursor.position(definitions.get(rule)));
    }

    private void rule() {
        int start = cursor.index();
        String name = name();
        space(false);
        cursor.expect("::=", "after the name of a rule");
        space(true);
        definitions.put(name, start);
        if (rules.put(name, alternatives(false)) != null) {
            throw cursor.error(start, "rule " + name + " is defined twice");
        }
        if (!cursor.atEnd() && cursor.peek() != '\n') {
            throw cursor.error(cursor.index(), "expected the end of the line, found " + cursor.found());
        }
    }

    private String name() {
        int start = cursor.index();
        while (isName(cursor.peek())) {
            cursor.next("a name");
        }
        if (cursor.index() == start) {
            throw cursor.error(start, "expected the name of a rule, found " + cursor.found());
        }
        return cursor.slice(start, cursor.index());
    }

    private static boolean isName(int c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_';
    }

    private Node alternatives(boolean nested) {
        List<Node> options = new ArrayList<>();
        options.add(sequence(nested));
        while (nested ? cursor.skip("|") : continues()) {
            space(true);
            options.add(sequence(nested));
        }
        return options.size() == 1 ? options.getFirst() : new Node.Either(options);
    }

    /** Skips a bar, also one at the beginning of a following line. */
    private boolean continues() {
        int ahead = 0;
        boolean comment = false;
        while (isBlank(cursor.peek(ahead))
                || cursor.peek(ahead) == '\n'
                || cursor.peek(ahead) == '#'
                || comment && cursor.peek(ahead) != -1) {
            comment = cursor.peek(ahead) != '\n' && (comment || cursor.peek(ahead) == '#');
            ahead++;
        }
        if (cursor.peek(ahead) != '|') {
            return false;
        }
        space(true);
        return cursor.skip("|");
    }

    private Node sequence(boolean nested) {
        List<Node> parts = new ArrayList<>();
        while (true) {
            int c = cursor.peek();
            if (c == -1 || c == '|' || c == ')' || c == '\n') {
                return parts.size() == 1 ? parts.getFirst() : new Node.Sequence(parts);
            }
            Node item = item();
            space(nested);
            for (int quantifiers = 0; isQuantifier(cursor.peek()); quantifiers++) {
                if (quantifiers == MAX_QUANTIFIERS) {
                    throw cursor.error(cursor.index(), "more than " + MAX_QUANTIFIERS + " quantifiers follow one item");
                }
                item = quantified(item);
                space(nested);
            }
            parts.add(item);
        }
    }

    private static boolean isQuantifier(int c) {
        return c == '*' || c == '+' || c == '?' || c == '{';
    }

    private Node quantified(Node item) {
        return switch (cursor.next("a quantifier")) {
            case '*' -> new Node.Repeat(item, 0, Node.UNBOUNDED);
            case '+' -> new Node.Repeat(item, 1, Node.UNBOUNDED);
            case '?' -> Node.optional(item);
            default -> cursor.counted(item);
        };
    }

    private Node item() {
        int start = cursor.index();
        int c = cursor.peek();
        if (isName(c)) {
            String name = name();
            references.putIfAbsent(name, start);
            return new Node.Call(name);
        }
        cursor.next("an item");
        return switch (c) {
            case '"' -> literal();
            case '[' -> characterClass();
            case '.' -> new Node.Chars(CodePoints.ALL);
            case '(' -> {
                cursor.enter();
                space(true);
                Node group = alternatives(true);
                cursor.expect(")", "to close the group");
                cursor.leave();
                yield group;
            }
            case '*', '+', '?', '{' -> throw cursor.error(start, "there is nothing to repeat");
            case '<', '!' ->
                throw cursor.error(
                        start, "tokens cannot be named in a grammar over bytes; write the text of the token");
            default ->
                throw cursor.error(
                        start,
                        "expected a literal, a class, a group or the name of a rule, found '" + Character.toString(c)
                                + "'");
        };
    }

    private Node literal() {
        StringBuilder text = new StringBuilder();
        while (cursor.peek() != '"') {
            text.appendCodePoint(character("a closing quote"));
        }
        cursor.expect("\"", "to close the literal");
        return Node.text(text.toString());
    }

    private Node characterClass() {
        boolean negated = cursor.skip("^");
        CodePoints set = CodePoints.NONE;
        while (cursor.peek() != ']') {
            int start = cursor.index();
            int first = character("a closing bracket");
            int last = first;
            if (cursor.peek() == '-' && cursor.peek(1) != ']') {
                cursor.next("a range");
                last = character("the end of a range");
            }
            if (last < first) {
                throw cursor.error(start, "the range " + cursor.slice(start, cursor.index()) + " is empty");
            }
            set = set.or(CodePoints.range(first, last));
        }
        cursor.expect("]", "to close the class");
        return new Node.Chars(negated ? set.not() : set);
    }

    private int character(String wanted) {
        int start = cursor.index();
        int c = cursor.next(wanted);
        if (c != '\\') {
            return Unicode.requireScalar(c, cursor.position(start));
        }
        int escaped = cursor.next("an escape");
        return switch (escaped) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'x' -> cursor.hexadecimal(2);
            case 'u' -> cursor.hexadecimal(4);
            case 'U' -> cursor.hexadecimal(8);
            case '\\', '"', '[', ']', '-', '^' -> escaped;
            default -> throw cursor.error(start, "unknown escape \\" + Character.toString(escaped));
        };
    }

    private static boolean isBlank(int c) {
        return c == ' ' || c == '\t' || c == '\r';
    }

    /** Skips blanks and comments, and line ends if they mean nothing here. */
    private void space(boolean lineEnds) {
        while (isBlank(cursor.peek()) || cursor.peek() == '#' || lineEnds && cursor.peek() == '\n') {
            if (cursor.next("space") == '#') {
                while (!cursor.atEnd() && cursor.peek() != '\n') {
                    cursor.next("a comment");
                }
            }
        }
    }
}
