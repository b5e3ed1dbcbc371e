package dev.torchane.program;

import java.nio.charset.StandardCharsets;

/** Splits MIL text into tokens: names, numbers, strings and single punctuation characters. */
final class MilLexer {

    static final int END = -1;
    static final int NAME = -2;
    static final int NUMBER = -3;
    static final int STRING = -4;
    static final int ARROW = -5;

    private final String source;
    private final byte[] text;
    private int start;
    private int end;
    private int kind;

    /** The lexer of a whole text; the first token is current. */
    MilLexer(String source, byte[] text) {
        this.source = source;
        this.text = text;
        advance();
    }

    /** Kind of the current token: one of the constants, or the character of punctuation. */
    int kind() {
        return kind;
    }

    /** Where the current token begins. */
    int offset() {
        return start;
    }

    /** Continues at an offset that {@link #offset} gave. */
    void seek(int offset) {
        end = offset;
        advance();
    }

    /** Goes to the next token. */
    void advance() {
        skipBlank();
        start = end;
        if (end >= text.length) {
            kind = END;
            return;
        }
        byte c = text[end];
        if (nameStart(c)) {
            kind = NAME;
            do {
                end++;
            } while (end < text.length && (namePart(text[end]) || text[end] == '.'));
        } else if (digit(c) || ((c == '-' || c == '+') && end + 1 < text.length && numberAfterSign(text[end + 1]))) {
            kind = NUMBER;
            do {
                end++;
            } while (end < text.length && numberPart(end));
        } else if (c == '"') {
            kind = STRING;
            skipString();
        } else if (c == '-' && end + 1 < text.length && text[end + 1] == '>') {
            kind = ARROW;
            end += 2;
        } else {
            kind = c & 0xff;
            end++;
        }
    }

    private static boolean nameStart(byte c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private static boolean namePart(byte c) {
        return nameStart(c) || digit(c) || c == '@';
    }

    private static boolean digit(byte c) {
        return c >= '0' && c <= '9';
    }

    private static boolean numberAfterSign(byte c) {
        return digit(c) || c == '.' || c == 'i' || c == 'n';
    }

    private boolean numberPart(int at) {
        byte c = text[at];
        if (c == '-' || c == '+') {
            byte before = text[at - 1];
            boolean hex = start + 2 < at && (text[start + 1] == 'x' || text[start + 2] == 'x');
            return before == 'p' || before == 'P' || (!hex && (before == 'e' || before == 'E'));
        }
        return digit(c) || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private void skipBlank() {
        while (end < text.length) {
            byte c = text[end];
            if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
                end++;
            } else if (c == '/' && end + 1 < text.length && text[end + 1] == '/') {
                while (end < text.length && text[end] != '\n') {
                    end++;
                }
            } else if (c == '/' && end + 1 < text.length && text[end + 1] == '*') {
                int open = end;
                end += 2;
                while (end + 1 < text.length && !(text[end] == '*' && text[end + 1] == '/')) {
                    end++;
                }
                if (end + 1 >= text.length) {
                    throw error(open, "expected the end of this comment, found the end of the text");
                }
                end += 2;
            } else {
                return;
            }
        }
    }

    private void skipString() {
        end++;
        while (end < text.length && text[end] != '"') {
            end += text[end] == '\\' ? 2 : 1;
        }
        if (end >= text.length) {
            throw error(start, "expected the end of this string, found the end of the text");
        }
        end++;
    }

    /** Skips from an opening bracket, which is current, behind the closing one that belongs to it. */
    void skipBalanced() {
        int open = start;
        int depth = 0;
        do {
            switch (kind) {
                case '{', '(', '[', '<' -> depth++;
                case '}', ')', ']', '>' -> depth--;
                case END -> throw error(open, "expected the bracket that closes this one, found the end of the text");
                default -> {}
            }
            advance();
        } while (depth > 0);
    }

    /** Skips a block from its opening brace, which is current, looking at nothing but braces, strings and comments. */
    void skipBlock() {
        int open = start;
        int depth = 1;
        while (depth > 0) {
            if (end >= text.length) {
                throw error(open, "expected the brace that closes this one, found the end of the text");
            }
            switch (text[end]) {
                case '{' -> {
                    depth++;
                    end++;
                }
                case '}' -> {
                    depth--;
                    end++;
                }
                case '"' -> {
                    start = end;
                    skipString();
                }
                case '/' -> {
                    int before = end;
                    skipBlank();
                    end = Math.max(end, before + 1);
                }
                default -> end++;
            }
        }
        advance();
    }

    /** The current token's characters. */
    String text() {
        return new String(text, start, end - start, StandardCharsets.UTF_8);
    }

    /** The contents of the current string token. */
    String string() {
        int from = start + 1;
        int to = end - 1;
        for (int i = from; i < to; i++) {
            if (text[i] == '\\') {
                return unescape(new String(text, from, to - from, StandardCharsets.UTF_8));
            }
        }
        return new String(text, from, to - from, StandardCharsets.UTF_8);
    }

    private String unescape(String raw) {
        StringBuilder result = new StringBuilder(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c != '\\') {
                result.append(c);
                continue;
            }
            char escaped = ++i < raw.length() ? raw.charAt(i) : ' ';
            result.append(
                    switch (escaped) {
                        case 'n' -> '\n';
                        case 't' -> '\t';
                        case 'r' -> '\r';
                        case '"', '\\', '\'', '/' -> escaped;
                        default ->
                            throw error(start, "expected \\n, \\t, \\r, \\\" or \\\\ in a string, found \\" + escaped);
                    });
        }
        return result.toString();
    }

    /** The value of the current number token, or of the names {@code inf} and {@code nan}. */
    double number() {
        int at = start;
        boolean negative = text[at] == '-';
        if (negative || text[at] == '+') {
            at++;
        }
        long value = 0;
        int i = at;
        while (i < end && digit(text[i]) && i - at < 18) {
            value = value * 10 + (text[i++] - '0');
        }
        if (i == end && i > at) {
            return negative ? (value == 0 ? -0.0 : -value) : value;
        }
        if (i == at + 1 && value == 0 && (text[i] == 'x' || text[i] == 'X')) {
            return negative ? -hex(i + 1) : hex(i + 1);
        }
        String word = text();
        return switch (word.startsWith("-") || word.startsWith("+") ? word.substring(1) : word) {
            case "inf", "infinity" -> negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
            case "nan" -> Double.NaN;
            default -> {
                char last = word.charAt(word.length() - 1);
                if (last < '0' || last > '9') {
                    throw expected("a number");
                }
                try {
                    yield Double.parseDouble(word);
                } catch (NumberFormatException e) {
                    throw expected("a number");
                }
            }
        };
    }

    /** A hexadecimal number such as {@code 1.8p+1}, from behind its {@code 0x}. */
    private double hex(int from) {
        long mantissa = 0;
        int digits = 0;
        int shift = 0;
        boolean point = false;
        int i = from;
        for (; i < end && text[i] != 'p' && text[i] != 'P'; i++) {
            int digit = Character.digit(text[i], 16);
            if (text[i] == '.' && !point) {
                point = true;
            } else if (digit >= 0 && digits < 15) {
                mantissa = mantissa << 4 | digit;
                digits += mantissa == 0 ? 0 : 1;
                shift -= point ? 4 : 0;
            } else {
                throw expected("a hexadecimal number of at most 15 digits");
            }
        }
        int exponent = 0;
        if (i < end) {
            int sign = text[++i < end ? i : end - 1] == '-' ? -1 : 1;
            i += i < end && (text[i] == '-' || text[i] == '+') ? 1 : 0;
            int first = i;
            for (; i < end && digit(text[i]) && i - first < 6; i++) {
                exponent = exponent * 10 + (text[i] - '0');
            }
            if (i != end || i == first) {
                throw expected("a hexadecimal number");
            }
            exponent *= sign;
        } else if (i == from) {
            throw expected("a hexadecimal number");
        }
        return Math.scalb((double) mantissa, exponent + shift);
    }

    /** The refusal of the current token. */
    MilSyntaxException expected(String what) {
        String found = switch (kind) {
            case END -> "the end of the text";
            default -> "'" + (end - start > 40 ? text().substring(0, 20) + "…" : text()) + "'";
        };
        return error(start, "expected " + what + ", found " + found);
    }

    /** A refusal at an offset. */
    MilSyntaxException error(int offset, String problem) {
        int line = 1;
        int begin = 0;
        for (int i = 0; i < Math.min(offset, text.length); i++) {
            if (text[i] == '\n') {
                line++;
                begin = i + 1;
            }
        }
        return new MilSyntaxException(source, line, Math.min(offset, text.length) - begin + 1, problem);
    }
}
