package dev.torchane.grammar;

import java.util.ArrayList;
import java.util.List;

/** Reads the subset of regular expressions that {@link Grammar#regex} and the schema keyword {@code pattern} document. */
final class RegexParser {

    private static final CodePoints DIGITS = CodePoints.range('0', '9');
    private static final CodePoints WORD =
            DIGITS.or(CodePoints.range('a', 'z')).or(CodePoints.range('A', 'Z')).or(CodePoints.of('_'));
    private static final CodePoints JAVA_SPACE = CodePoints.of(' ', '\t', '\n', 0x0B, '\f', '\r');
    private static final CodePoints ECMA_SPACE = JAVA_SPACE
            .or(CodePoints.of(0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF))
            .or(CodePoints.range(0x2000, 0x200A));
    private static final CodePoints ECMA_LINE_ENDS = CodePoints.of('\n', '\r', 0x2028, 0x2029);
    private static final CodePoints JAVA_LINE_ENDS = ECMA_LINE_ENDS.or(CodePoints.of(0x85));
    private static final String SYNTAX = "^$\\.*+?()[]{}|/-";

    private final TextCursor cursor;
    private final boolean ecma;

    private RegexParser(TextCursor cursor, boolean ecma) {
        this.cursor = cursor;
        this.ecma = ecma;
    }

    /** Java's syntax; the whole text matches. */
    static Node whole(String expression) {
        return new RegexParser(TextCursor.ofExpression(expression, ""), false).parse();
    }

    /** ECMAScript's syntax, as JSON schema uses it: some part of the text matches, unless anchors say otherwise. */
    static Node part(String expression, String pointer) {
        return new RegexParser(TextCursor.ofExpression(expression, pointer + ", "), true).parse();
    }

    private Node parse() {
        Node node = alternatives(true);
        if (!cursor.atEnd()) {
            throw cursor.error(cursor.index(), "there is no group to close");
        }
        return node;
    }

    private Node alternatives(boolean outermost) {
        List<Node> options = new ArrayList<>();
        do {
            options.add(outermost ? anchored() : sequence());
        } while (cursor.skip("|"));
        return options.size() == 1 ? options.getFirst() : new Node.Either(options);
    }

    private Node anchored() {
        boolean start = cursor.skip("^");
        Node body = sequence();
        boolean end = cursor.skip("$");
        if (end && !cursor.atEnd() && cursor.peek() != '|') {
            throw cursor.error(cursor.index() - 1, "$ is supported at the very end only");
        }
        Node anything = Node.any(new Node.Chars(CodePoints.ALL));
        return ecma ? Node.sequence(start ? Node.EMPTY : anything, body, end ? Node.EMPTY : anything) : body;
    }

    private Node sequence() {
        List<Node> parts = new ArrayList<>();
        while (!cursor.atEnd() && cursor.peek() != '|' && cursor.peek() != ')' && cursor.peek() != '$') {
            parts.add(quantified(item()));
        }
        return parts.size() == 1 ? parts.getFirst() : new Node.Sequence(parts);
    }

    private Node quantified(Node item) {
        Node repeated = switch (cursor.peek()) {
            case '*' -> new Node.Repeat(item, 0, Node.UNBOUNDED);
            case '+' -> new Node.Repeat(item, 1, Node.UNBOUNDED);
            case '?' -> Node.optional(item);
            case '{' -> null;
            default -> item;
        };
        if (repeated == item) {
            return item;
        }
        cursor.next("a quantifier");
        if (repeated == null) {
            if (cursor.peek() == ',') {
                throw cursor.error(cursor.index(), "a repetition needs its lower limit: write {0,n}");
            }
            repeated = cursor.counted(item);
        }
        if (!cursor.skip("?") && cursor.peek() == '+') {
            throw cursor.error(cursor.index(), "possessive quantifiers are not supported");
        }
        if (cursor.peek() == '*' || cursor.peek() == '+' || cursor.peek() == '?' || cursor.peek() == '{') {
            throw cursor.error(cursor.index(), "there is nothing to repeat: put the repetition before it into a group");
        }
        return repeated;
    }

    private Node item() {
        int start = cursor.index();
        int c = cursor.next("an item");
        return switch (c) {
            case '(' -> group(start);
            case '[' -> new Node.Chars(characterClass());
            case '.' -> new Node.Chars((ecma ? ECMA_LINE_ENDS : JAVA_LINE_ENDS).not());
            case '\\' -> new Node.Chars(escape(start, false));
            case '*', '+', '?', '{' -> throw cursor.error(start, "there is nothing to repeat");
            case '^' -> throw cursor.error(start, "^ is supported at the very start only");
            default -> new Node.Chars(CodePoints.of(Unicode.requireScalar(c, cursor.position(start))));
        };
    }

    private Node group(int start) {
        cursor.enter();
        if (cursor.skip("?")) {
            if (cursor.skip("<") && cursor.peek() != '=' && cursor.peek() != '!') {
                while (cursor.peek() != '>') {
                    int c = cursor.next("the end of the group's name");
                    if (!Character.isLetterOrDigit(c)) {
                        throw cursor.error(cursor.index() - 1, "a group's name has letters and digits only");
                    }
                }
                cursor.next("the end of the group's name");
            } else if (!cursor.skip(":")) {
                throw cursor.error(start, "look-around, flags and atomic groups are not supported: (?" + rest());
            }
        }
        Node body = alternatives(false);
        if (cursor.peek() == '$') {
            throw cursor.error(cursor.index(), "$ is supported at the very end only");
        }
        cursor.expect(")", "to close the group");
        cursor.leave();
        return body;
    }

    private String rest() {
        return cursor.atEnd() ? "" : Character.toString(cursor.peek()) + "…";
    }

    private CodePoints characterClass() {
        boolean negated = cursor.skip("^");
        CodePoints set = CodePoints.NONE;
        boolean first = true;
        while (cursor.peek() != ']' || first && !ecma) {
            int start = cursor.index();
            CodePoints one = classMember(start);
            boolean range = cursor.peek() == '-' && cursor.peek(1) != ']' && cursor.peek(1) != -1;
            if (range) {
                cursor.next("a range");
                CodePoints other = classMember(cursor.index());
                set = set.or(CodePoints.range(only(one, start), only(other, start)));
                if (only(other, start) < only(one, start)) {
                    throw cursor.error(start, "the range " + cursor.slice(start, cursor.index()) + " is empty");
                }
            } else {
                set = set.or(one);
            }
            first = false;
        }
        cursor.expect("]", "to close the class");
        return negated ? set.not() : set;
    }

    private CodePoints classMember(int start) {
        int c = cursor.next("the end of the class");
        if (c == '\\') {
            return escape(start, true);
        }
        if (c == '[' && !ecma || c == '&' && cursor.peek() == '&') {
            throw cursor.error(
                    start,
                    "classes within classes and intersections are not supported; escape '" + Character.toString(c)
                            + "' if it is meant as a character");
        }
        return CodePoints.of(Unicode.requireScalar(c, cursor.position(start)));
    }

    private int only(CodePoints set, int start) {
        if (set.ranges().size() != 1
                || set.ranges().getFirst().first() != set.ranges().getFirst().last()) {
            throw cursor.error(start, "a range goes from one character to another");
        }
        return set.ranges().getFirst().first();
    }

    private CodePoints escape(int start, boolean inClass) {
        int c = cursor.next("an escape");
        return switch (c) {
            case 'd' -> DIGITS;
            case 'D' -> DIGITS.not();
            case 'w' -> WORD;
            case 'W' -> WORD.not();
            case 's' -> ecma ? ECMA_SPACE : JAVA_SPACE;
            case 'S' -> (ecma ? ECMA_SPACE : JAVA_SPACE).not();
            case 'n' -> CodePoints.of('\n');
            case 'r' -> CodePoints.of('\r');
            case 't' -> CodePoints.of('\t');
            case 'f' -> CodePoints.of('\f');
            case 'x' -> CodePoints.of(!ecma && cursor.skip("{") ? braced(start) : cursor.hexadecimal(2));
            case 'u' -> CodePoints.of(ecma && cursor.skip("{") ? braced(start) : utf16(start));
            default -> {
                boolean plain =
                        SYNTAX.indexOf(c) >= 0 || c > ' ' && c < 0x7F && !Character.isLetterOrDigit(c) && c != '_';
                if (!plain) {
                    throw cursor.error(
                            start, "\\" + Character.toString(c) + " is not supported" + (inClass ? " in a class" : ""));
                }
                yield CodePoints.of(c);
            }
        };
    }

    /** Four digits, or two times four for a pair. */
    private int utf16(int start) {
        if (Character.digit(cursor.peek(), 16) == 13 && Character.digit(cursor.peek(1), 16) >= 8) {
            StringBuilder pair = new StringBuilder();
            for (int i = 0; i < 2; i++) {
                if (i == 1) {
                    cursor.expect("\\u", "and the second half of the pair");
                }
                int unit = 0;
                for (int j = 0; j < 4; j++) {
                    unit = unit * 16 + Math.max(0, Character.digit(cursor.next("a hexadecimal digit"), 16));
                }
                pair.append((char) unit);
            }
            return Unicode.requireScalar(pair.codePointAt(0), cursor.position(start));
        }
        return cursor.hexadecimal(4);
    }

    private int braced(int start) {
        int digits = 0;
        while (Character.digit(cursor.peek(digits), 16) >= 0) {
            digits++;
        }
        if (digits == 0 || digits > 8) {
            throw cursor.error(start, "expected 1 to 8 hexadecimal digits within the braces");
        }
        int codePoint = cursor.hexadecimal(digits);
        cursor.expect("}", "to close the escape");
        return codePoint;
    }
}
