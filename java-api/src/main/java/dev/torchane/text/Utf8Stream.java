package dev.torchane.text;

/**
 * Bytes to text as they come. Holds back an unfinished character; an invalid sequence becomes one U+FFFD for each maximal
 * subpart, as in Rust's {@code from_utf8_lossy} and the WHATWG encoding standard.
 */
final class Utf8Stream {

    private static final char REPLACEMENT = '\uFFFD';

    private int codePoint;
    private int missing;
    private int lowest = 0x80;
    private int highest = 0xBF;

    /** Adds a byte; appends what has become certain. */
    void append(int value, StringBuilder text) {
        if (missing > 0) {
            if (value >= lowest && value <= highest) {
                codePoint = codePoint << 6 | value & 0x3F;
                lowest = 0x80;
                highest = 0xBF;
                if (--missing == 0) {
                    text.appendCodePoint(codePoint);
                }
                return;
            }
            finish(text);
        }
        start(value, text);
    }

    /** Ends the stream: an unfinished character becomes U+FFFD. */
    void finish(StringBuilder text) {
        if (missing > 0) {
            text.append(REPLACEMENT);
        }
        missing = 0;
        lowest = 0x80;
        highest = 0xBF;
    }

    private void start(int value, StringBuilder text) {
        if (value < 0x80) {
            text.append((char) value);
        } else if (value >= 0xC2 && value <= 0xDF) {
            expect(1, value & 0x1F, 0x80, 0xBF);
        } else if (value >= 0xE0 && value <= 0xEF) {
            expect(2, value & 0x0F, value == 0xE0 ? 0xA0 : 0x80, value == 0xED ? 0x9F : 0xBF);
        } else if (value >= 0xF0 && value <= 0xF4) {
            expect(3, value & 0x07, value == 0xF0 ? 0x90 : 0x80, value == 0xF4 ? 0x8F : 0xBF);
        } else {
            text.append(REPLACEMENT);
        }
    }

    private void expect(int bytes, int bits, int low, int high) {
        missing = bytes;
        codePoint = bits;
        lowest = low;
        highest = high;
    }
}
