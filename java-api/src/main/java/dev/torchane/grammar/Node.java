package dev.torchane.grammar;

import java.util.List;

/** What the right side of a rule is made of, whatever language it was written in. */
sealed interface Node {

    int UNBOUNDED = Integer.MAX_VALUE;

    Node EMPTY = new Sequence(List.of());
    Node NEVER = new Either(List.of());

    /** One character out of a set. */
    record Chars(CodePoints set) implements Node {}

    /** One of these strings; their common prefixes are shared. */
    record Strings(List<String> values) implements Node {}

    record Sequence(List<Node> parts) implements Node {}

    record Either(List<Node> options) implements Node {}

    /** From {@code min} to {@code max} times, both inclusive; {@link #UNBOUNDED} is no limit. */
    record Repeat(Node body, int min, int max) implements Node {}

    record Call(String rule) implements Node {}

    static Node text(String text) {
        return new Strings(List.of(text));
    }

    static Node sequence(Node... parts) {
        return new Sequence(List.of(parts));
    }

    static Node either(Node... options) {
        return new Either(List.of(options));
    }

    static Node optional(Node body) {
        return new Repeat(body, 0, 1);
    }

    static Node any(Node body) {
        return new Repeat(body, 0, UNBOUNDED);
    }
}
