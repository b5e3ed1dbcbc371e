package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Property lists as macOS prints them: {@code { key = value; }}, {@code ( item, item )}, words and quoted strings. */
final class PropertyText {

    private static final int DEEPEST = 64;

    private final String text;
    private int at;

    private PropertyText(String text, int at) {
        this.text = text;
        this.at = at;
    }

    /** The innermost dictionary in a text that has a key. */
    static Map<?, ?> dictionaryWith(String text, String key) {
        int found = text.indexOf(key);
        int open = found < 0 ? -1 : text.lastIndexOf('{', found);
        if (open < 0) {
            throw new MilSyntaxException(
                    "modelAttributes", 1, 1, "expected a dictionary with the key " + key + ", found none");
        }
        return (Map<?, ?>) new PropertyText(text, open).value(0);
    }

    /** The number that a word says, if it is one. */
    static Optional<Long> number(Object value) {
        if (value instanceof String word && word.matches("-?\\d{1,18}")) {
            return Optional.of(Long.parseLong(word));
        }
        return Optional.empty();
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw expected("values at most " + DEEPEST + " deep");
        }
        skipBlank();
        return switch (current()) {
            case '{' -> dictionary(depth);
            case '(' -> list(depth);
            case '"' -> quoted();
            default -> word();
        };
    }

    private Map<String, Object> dictionary(int depth) {
        at++;
        Map<String, Object> entries = new LinkedHashMap<>();
        while (true) {
            skipBlank();
            if (current() == '}') {
                at++;
                return entries;
            }
            String key = current() == '"' ? quoted() : word();
            require('=');
            entries.put(key, value(depth + 1));
            require(';');
        }
    }

    private List<Object> list(int depth) {
        at++;
        List<Object> items = new ArrayList<>();
        skipBlank();
        while (current() != ')') {
            items.add(value(depth + 1));
            skipBlank();
            if (current() == ',') {
                at++;
                skipBlank();
            } else if (current() != ')') {
                throw expected("',' or ')'");
            }
        }
        at++;
        return items;
    }

    private String quoted() {
        StringBuilder string = new StringBuilder();
        for (at++; current() != '"'; at++) {
            if (current() == '\\') {
                at++;
            }
            string.append(current());
        }
        at++;
        return string.toString();
    }

    private String word() {
        int begin = at;
        while (at < text.length() && "={}();,\" \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        if (at == begin) {
            throw expected("a word");
        }
        return text.substring(begin, at);
    }

    private void require(char wanted) {
        skipBlank();
        if (current() != wanted) {
            throw expected("'" + wanted + "'");
        }
        at++;
    }

    private void skipBlank() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char current() {
        if (at >= text.length()) {
            throw expected("the rest of a property list");
        }
        return text.charAt(at);
    }

    private MilSyntaxException expected(String what) {
        int end = Math.min(at, text.length());
        int line =
                1 + (int) text.substring(0, end).chars().filter(c -> c == '\n').count();
        int column = end - text.lastIndexOf('\n', end - 1);
        String found = at < text.length() ? "'" + text.charAt(at) + "'" : "the end of the text";
        return new MilSyntaxException("modelAttributes", line, column, "expected " + what + ", found " + found);
    }
}
