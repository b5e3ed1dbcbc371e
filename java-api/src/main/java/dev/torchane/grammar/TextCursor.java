package dev.torchane.grammar;

import java.util.function.IntFunction;

/** Reads a text by code points, knows where it is, and reads the parts that both notations share. */
final class TextCursor {

    /** The largest number a repetition may name. */
    static final int MAX_REPETITIONS = 1_000_000;

    private static final int MAX_NESTING = 200;

    private final int[] text;
    private final IntFunction<String> positions;
    private int at;
    private int nesting;

    private TextCursor(int[] text, IntFunction<String> positions) {
        this.text = text;
        this.positions = positions;
    }

    /** Positions are lines and columns, from 1. */
    static TextCursor ofLines(String text) {
        int[] codePoints = text.codePoints().toArray();
        return new TextCursor(codePoints, index -> {
            int line = 1;
            int column = 1;
            for (int i = 0; i < index; i++) {
                column = codePoints[i] == '\n' ? 1 : column + 1;
                line += codePoints[i] == '\n' ? 1 : 0;
            }
            return "line " + line + ", column " + column;
        });
    }

    /** Positions are indexes from 0, counted in characters (code points). */
    static TextCursor ofExpression(String text, String prefix) {
        return new TextCursor(text.codePoints().toArray(), index -> prefix + "index " + index);
    }

    int index() {
        return at;
    }

    boolean atEnd() {
        return at == text.length;
    }

    /** The character ahead, −1 at the end. */
    int peek() {
        return peek(0);
    }

    int peek(int ahead) {
        return at + ahead < text.length ? text[at + ahead] : -1;
    }

    int next(String wanted) {
        if (atEnd()) {
            throw error(at, "the text ends where " + wanted + " was expected");
        }
        return text[at++];
    }

    boolean skip(String expected) {
        int[] codePoints = expected.codePoints().toArray();
        for (int i = 0; i < codePoints.length; i++) {
            if (peek(i) != codePoints[i]) {
                return false;
            }
        }
        at += codePoints.length;
        return true;
    }

    void expect(String expected, String purpose) {
        if (!skip(expected)) {
            throw error(at, "expected " + expected + " " + purpose + ", found " + found());
        }
    }

    /** What is ahead, for messages. */
    String found() {
        return atEnd() ? "the end" : "'" + Character.toString(peek()) + "'";
    }

    String slice(int from, int to) {
        return new String(text, from, to - from);
    }

    String position(int index) {
        return positions.apply(index);
    }

    GrammarException error(int index, String problem) {
        return new GrammarException(positions.apply(index), problem);
    }

    void enter() {
        if (++nesting > MAX_NESTING) {
            throw error(at, "groups are nested deeper than " + MAX_NESTING);
        }
    }

    void leave() {
        nesting--;
    }

    /** Exactly so many hexadecimal digits, as a character. */
    int hexadecimal(int digits) {
        int start = at;
        long value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = Character.digit(next("a hexadecimal digit"), 16);
            if (digit < 0) {
                throw error(at - 1, "expected " + digits + " hexadecimal digits, found " + slice(start, at));
            }
            value = value * 16 + digit;
        }
        return Unicode.requireScalar((int) Math.min(value, Integer.MAX_VALUE), position(start));
    }

    /**
     * Applies the quantifiers {@code m}, {@code m,}, {@code m,n} or {@code ,n} and the closing brace, the opening one being read.
     */
    Node counted(Node body) {
        int start = at - 1;
        boolean openBelow = peek() == ',';
        int min = openBelow ? 0 : number();
        spaces();
        int max = min;
        if (skip(",")) {
            spaces();
            max = peek() == '}' && !openBelow ? Node.UNBOUNDED : number();
        }
        spaces();
        expect("}", "to close the repetition");
        if (max < min) {
            throw error(start, "a repetition from " + min + " to " + max + " matches nothing");
        }
        return new Node.Repeat(body, min, max);
    }

    private void spaces() {
        while (peek() == ' ') {
            at++;
        }
    }

    private int number() {
        spaces();
        int start = at;
        int value = 0;
        while (peek() >= '0' && peek() <= '9') {
            value = value * 10 + peek() - '0';
            at++;
            if (value > MAX_REPETITIONS) {
                throw error(start, "a repetition counts to " + MAX_REPETITIONS + " at most; leave the limit open");
            }
        }
        if (at == start) {
            throw error(at, "expected a number of repetitions, found " + found());
        }
        return value;
    }
}
