package dev.torchane.text;

import dev.torchane.text.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Cuts a template into tokens, with the whitespace rules of transformers' environment: {@code trim_blocks} (the newline
 * after a block tag goes), {@code lstrip_blocks} (the indentation before a block tag goes), one newline at the end goes.
 */
final class JinjaLexer {

    private static final Set<String> LONG_OPERATORS = Set.of("//", "**", "==", "!=", "<=", ">=");
    private static final String OPERATORS = "+-~/*%<>=.:|,;()[]{}";

    private final String source;
    private final List<JinjaToken> tokens = new ArrayList<>();
    private int position;
    private int line = 1;
    private boolean lineStarts = true;

    private JinjaLexer(String source) {
        this.source = source;
    }

    static List<JinjaToken> tokens(String template) {
        String source = template.replace("\r\n", "\n").replace('\r', '\n');
        if (source.endsWith("\n")) {
            source = source.substring(0, source.length() - 1);
        }
        return new JinjaLexer(source).run();
    }

    private List<JinjaToken> run() {
        while (position < source.length()) {
            int tag = nextTag();
            if (tag < 0) {
                data(source.substring(position));
                position = source.length();
                break;
            }
            char kind = source.charAt(tag + 1);
            char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : ' ';
            String text = source.substring(position, tag);
            data(stripBefore(text, kind, sign));
            countLines(text);
            position = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
            switch (kind) {
                case '#' -> comment();
                case '{' -> tag(Kind.VARIABLE_BEGIN, Kind.VARIABLE_END, "}}");
                default -> block();
            }
        }
        tokens.add(new JinjaToken(Kind.END, "", line));
        return tokens;
    }

    private int nextTag() {
        for (int i = position; i + 1 < source.length(); i++) {
            if (source.charAt(i) == '{' && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    private String stripBefore(String text, char kind, char sign) {
        if (sign == '-') {
            return JinjaStrings.stripEnd(text, JinjaStrings::isSpace);
        }
        if (sign == '+' || kind == '{') {
            return text;
        }
        int start = text.lastIndexOf('\n') + 1;
        boolean blank = text.substring(start).chars().allMatch(JinjaStrings::isSpace);
        return blank && (start > 0 || lineStarts) ? text.substring(0, start) : text;
    }

    private void data(String text) {
        if (!text.isEmpty()) {
            tokens.add(new JinjaToken(Kind.DATA, text, line));
        }
    }

    private void comment() {
        int end = source.indexOf("#}", position);
        if (end < 0) {
            throw new JinjaError("a comment is not closed", line, false);
        }
        char sign = end > position ? source.charAt(end - 1) : ' ';
        countLines(source.substring(position, end));
        position = end;
        closeTag(sign == '-' || sign == '+' ? sign : ' ', 2, true);
    }

    private void block() {
        int start = position;
        int rawTag = rawTagEnd();
        if (rawTag >= 0) {
            raw(rawTag);
            return;
        }
        position = start;
        tag(Kind.BLOCK_BEGIN, Kind.BLOCK_END, "%}");
    }

    /** Position of the delimiter that closes {@code {% raw %}}, or -1 when this is another block. */
    private int rawTagEnd() {
        int i = position;
        while (i < source.length() && JinjaStrings.isSpace(source.charAt(i))) {
            i++;
        }
        if (!source.startsWith("raw", i)) {
            return -1;
        }
        i += 3;
        while (i < source.length() && (JinjaStrings.isSpace(source.charAt(i)) || source.charAt(i) == '-')) {
            i++;
        }
        return source.startsWith("%}", i) ? i : -1;
    }

    private void raw(int close) {
        char sign = source.charAt(close - 1);
        position = close;
        closeTag(sign == '-' ? '-' : ' ', 2, true);
        var matcher = java.util.regex.Pattern.compile("\\{%([-+]?)\\s*endraw\\s*([-+]?)%\\}")
                .matcher(source);
        if (!matcher.find(position)) {
            throw new JinjaError("a raw block is not closed", line, false);
        }
        String text = source.substring(position, matcher.start());
        char before = matcher.group(1).isEmpty() ? ' ' : matcher.group(1).charAt(0);
        data(stripBefore(text, '%', before));
        countLines(text);
        position = matcher.end() - 2;
        closeTag(matcher.group(2).isEmpty() ? ' ' : matcher.group(2).charAt(0), 2, true);
    }

    /** Steps over a closing delimiter and what its sign and trim_blocks swallow after it. */
    private void closeTag(char sign, int length, boolean trims) {
        position += length;
        int start = position;
        if (sign == '-') {
            while (position < source.length() && JinjaStrings.isSpace(source.charAt(position))) {
                position++;
            }
        } else if (trims && sign != '+' && position < source.length() && source.charAt(position) == '\n') {
            position++;
        }
        countLines(source.substring(start, position));
        lineStarts = position > start && source.charAt(position - 1) == '\n';
    }

    private void tag(Kind begin, Kind end, String delimiter) {
        tokens.add(new JinjaToken(begin, "", line));
        int depth = 0;
        while (true) {
            skipSpaces();
            if (position >= source.length()) {
                throw new JinjaError("a tag is not closed by " + delimiter, line, false);
            }
            char c = source.charAt(position);
            boolean signed =
                    (c == '-' || c == '+' && end == Kind.BLOCK_END) && source.startsWith(delimiter, position + 1);
            if (depth == 0 && (signed || source.startsWith(delimiter, position))) {
                tokens.add(new JinjaToken(end, "", line));
                position += signed ? 1 : 0;
                closeTag(signed ? c : ' ', 2, end == Kind.BLOCK_END);
                return;
            }
            if ("([{".indexOf(c) >= 0) {
                depth++;
            } else if (")]}".indexOf(c) >= 0) {
                depth--;
            }
            token(c);
        }
    }

    private void token(char c) {
        int start = position;
        if (c == '\'' || c == '"') {
            string(c);
        } else if (c >= '0' && c <= '9') {
            number();
        } else if (c == '_' || Character.isLetter(c)) {
            while (position < source.length()
                    && (source.charAt(position) == '_' || Character.isLetterOrDigit(source.charAt(position)))) {
                position++;
            }
            tokens.add(new JinjaToken(Kind.NAME, source.substring(start, position), line));
        } else {
            String two = source.substring(position, Math.min(position + 2, source.length()));
            int length = LONG_OPERATORS.contains(two) ? 2 : 1;
            if (length == 1 && OPERATORS.indexOf(c) < 0) {
                throw new JinjaError("unexpected character '" + c + "'", line, false);
            }
            tokens.add(new JinjaToken(Kind.OPERATOR, two.substring(0, length), line));
            position += length;
        }
    }

    private void string(char quote) {
        int start = line;
        StringBuilder value = new StringBuilder();
        for (position++; position < source.length(); position++) {
            char c = source.charAt(position);
            if (c == quote) {
                position++;
                tokens.add(new JinjaToken(Kind.STRING, value.toString(), start));
                return;
            }
            if (c == '\n') {
                line++;
            }
            if (c == '\\' && position + 1 < source.length()) {
                position = JinjaStrings.unescape(source, position + 1, value);
            } else {
                value.append(c);
            }
        }
        throw new JinjaError("a string is not closed", start, false);
    }

    private void number() {
        var matcher = java.util.regex.Pattern.compile("\\d+(?:_\\d+)*(\\.\\d+(?:_\\d+)*)?([eE][+-]?\\d+)?")
                .matcher(source)
                .region(position, source.length());
        matcher.lookingAt();
        boolean whole = matcher.group(1) == null && matcher.group(2) == null;
        tokens.add(new JinjaToken(
                whole ? Kind.INTEGER : Kind.FLOAT, matcher.group().replace("_", ""), line));
        position = matcher.end();
    }

    private void skipSpaces() {
        while (position < source.length() && JinjaStrings.isSpace(source.charAt(position))) {
            if (source.charAt(position) == '\n') {
                line++;
            }
            position++;
        }
    }

    private void countLines(String text) {
        line += (int) text.chars().filter(c -> c == '\n').count();
    }
}
