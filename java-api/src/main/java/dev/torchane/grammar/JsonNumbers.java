package dev.torchane.grammar;

import static dev.torchane.grammar.Node.optional;
import static dev.torchane.grammar.Node.sequence;
import static dev.torchane.grammar.Node.text;

import java.util.ArrayList;
import java.util.List;

/** Numbers between two bounds as digits. Integers have at most 18 digits, so they fit a {@code long}. */
final class JsonNumbers {

    static final int MAX_DIGITS = 18;
    static final long MAX = 999_999_999_999_999_999L;

    /** Digits that a {@code double} always tells apart. */
    private static final int EXACT_DIGITS = 15;

    private JsonNumbers() {}

    /** The integers from {@code low} to {@code high}, both inclusive, of at most 18 digits. */
    static Node integers(long low, long high) {
        List<Node> options = new ArrayList<>();
        if (low < 0 && low <= high) {
            options.add(sequence(text("-"), new Node.Either(ranges(Math.max(1, -high), -low))));
        }
        if (high >= 0 && low <= high) {
            options.addAll(ranges(Math.max(0, low), high));
        }
        return new Node.Either(options);
    }

    /**
     * The decimals between integer bounds, without exponents. Fractions are so short that a {@code double} does not round them
     * onto a bound.
     */
    static Node decimals(long low, boolean withLow, long high, boolean withHigh) {
        List<Node> options = new ArrayList<>();
        if (low < 0) {
            options.add(sequence(text("-"), magnitudes(Math.max(0, -high), high > 0 || withHigh, -low, withLow)));
        }
        if (high >= 0) {
            options.add(magnitudes(Math.max(0, low), low < 0 || withLow, high, withHigh));
        }
        return new Node.Either(options);
    }

    /** Decimals between bounds that are not negative. */
    private static Node magnitudes(long low, boolean withLow, long high, boolean withHigh) {
        if (low > high || low == high && !(withLow && withHigh)) {
            return Node.NEVER;
        }
        int places = EXACT_DIGITS - Long.toString(high).length();
        List<Node> options = new ArrayList<>();
        Node zeros = places < 1 ? Node.EMPTY : optional(sequence(text("."), repeat('0', '0', 1, places)));
        Node fraction = places < 1 ? Node.EMPTY : optional(sequence(text("."), repeat('0', '9', 1, places)));
        if (low == high) {
            return sequence(text(Long.toString(low)), zeros);
        }
        if (withHigh) {
            options.add(sequence(text(Long.toString(high)), zeros));
        }
        if (withLow) {
            options.add(sequence(text(Long.toString(low)), fraction));
        } else if (places >= 1) {
            // the bound itself is excluded: some digit after the point is not zero
            List<Node> aboveZero = new ArrayList<>();
            for (int leading = 0; leading < places; leading++) {
                aboveZero.add(sequence(
                        text("0".repeat(leading)), repeat('1', '9', 1, 1), repeat('0', '9', 0, places - leading - 1)));
            }
            options.add(sequence(text(low + "."), new Node.Either(aboveZero)));
        }
        if (low + 1 <= high - 1) {
            options.add(sequence(new Node.Either(ranges(low + 1, high - 1)), fraction));
        }
        return new Node.Either(options);
    }

    /** Digits of the numbers from {@code low} to {@code high}, none negative, without leading zeros. */
    private static List<Node> ranges(long low, long high) {
        List<Node> options = new ArrayList<>();
        long from = low;
        while (from <= high) {
            String digits = Long.toString(from);
            long lastOfLength = digits.length() == MAX_DIGITS ? MAX : pow10(digits.length()) - 1;
            long to = Math.min(high, lastOfLength);
            options.add(sameLength(digits, Long.toString(to)));
            from = to + 1;
        }
        return options;
    }

    private static long pow10(int exponent) {
        long power = 1;
        for (int i = 0; i < exponent; i++) {
            power *= 10;
        }
        return power;
    }

    private static Node sameLength(String low, String high) {
        if (low.equals(high)) {
            return text(low);
        }
        int rest = low.length() - 1;
        if (low.substring(1).equals("0".repeat(rest)) && high.substring(1).equals("9".repeat(rest))) {
            return sequence(repeat(low.charAt(0), high.charAt(0), 1, 1), repeat('0', '9', rest, rest));
        }
        char first = low.charAt(0);
        char last = high.charAt(0);
        if (first == last) {
            return sequence(text(low.substring(0, 1)), sameLength(low.substring(1), high.substring(1)));
        }
        List<Node> options = new ArrayList<>();
        options.add(sequence(text(low.substring(0, 1)), sameLength(low.substring(1), "9".repeat(rest))));
        if (first + 1 < last) {
            options.add(sequence(repeat((char) (first + 1), (char) (last - 1), 1, 1), repeat('0', '9', rest, rest)));
        }
        options.add(sequence(text(high.substring(0, 1)), sameLength("0".repeat(rest), high.substring(1))));
        return new Node.Either(options);
    }

    private static Node repeat(char first, char last, int min, int max) {
        return new Node.Repeat(new Node.Chars(CodePoints.range(first, last)), min, max);
    }

    /** Any number a schema's {@code number} writes: finite as a {@code double}. */
    static Node anyDecimal() {
        return sequence(optional(text("-")), JsonText.unsigned(MAX_DIGITS, MAX_DIGITS));
    }
}
