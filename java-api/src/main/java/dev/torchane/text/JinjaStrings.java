package dev.torchane.text;

import java.util.function.IntPredicate;

/** Python's view of characters: what counts as a space, indices in code points, escapes. */
final class JinjaStrings {

    private JinjaStrings() {}

    /** {@code str.isspace} for one character. */
    static boolean isSpace(int c) {
        return c == ' '
                || c >= '\t' && c <= '\r'
                || c >= 0x1C && c <= 0x1F
                || c == 0x85
                || c == 0xA0
                || c == 0x1680
                || c >= 0x2000 && c <= 0x200A
                || c == 0x2028
                || c == 0x2029
                || c == 0x202F
                || c == 0x205F
                || c == 0x3000;
    }

    static String stripStart(String text, IntPredicate stripped) {
        int start = 0;
        while (start < text.length() && stripped.test(text.codePointAt(start))) {
            start += Character.charCount(text.codePointAt(start));
        }
        return text.substring(start);
    }

    static String stripEnd(String text, IntPredicate stripped) {
        int end = text.length();
        while (end > 0 && stripped.test(text.codePointBefore(end))) {
            end -= Character.charCount(text.codePointBefore(end));
        }
        return text.substring(0, end);
    }

    static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    /** Reads the escape after a backslash; returns the index of its last character. */
    static int unescape(String source, int index, StringBuilder value) {
        char c = source.charAt(index);
        switch (c) {
            case 'n' -> value.append('\n');
            case 't' -> value.append('\t');
            case 'r' -> value.append('\r');
            case 'b' -> value.append('\b');
            case 'f' -> value.append('\f');
            case 'v' -> value.append('\u000B');
            case 'a' -> value.append('\u0007');
            case '\\', '\'', '"' -> value.append(c);
            case '\n' -> {}
            case 'x' -> {
                return hex(source, index, 2, value);
            }
            case 'u' -> {
                return hex(source, index, 4, value);
            }
            case 'U' -> {
                return hex(source, index, 8, value);
            }
            case '0', '1', '2', '3', '4', '5', '6', '7' -> {
                int end = index;
                int code = 0;
                while (end < source.length()
                        && end < index + 3
                        && source.charAt(end) >= '0'
                        && source.charAt(end) <= '7') {
                    code = code * 8 + source.charAt(end++) - '0';
                }
                value.append((char) code);
                return end - 1;
            }
            default -> value.append('\\').append(c);
        }
        return index;
    }

    private static int hex(String source, int index, int digits, StringBuilder value) {
        int end = index + 1 + digits;
        try {
            value.appendCodePoint(Integer.parseInt(source.substring(index + 1, end), 16));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new JinjaError("a string has a malformed escape \\" + source.charAt(index));
        }
        return end - 1;
    }

    /** Compares by code points, as Python does. */
    static int compare(String a, String b) {
        return java.util.Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());
    }
}
