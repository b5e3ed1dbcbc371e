package dev.torchane.grammar;

import static dev.torchane.grammar.Node.either;
import static dev.torchane.grammar.Node.optional;
import static dev.torchane.grammar.Node.sequence;
import static dev.torchane.grammar.Node.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.grammar.SchemaDocument.Part;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** Numbers within the bounds of a schema. */
final class SchemaNumbers {

    /** Bounds of decimals have at most so many digits, which leaves one for the fraction. */
    private static final int MAX_DECIMAL_BOUND = 14;

    private static final long OPEN_DECIMAL_BOUND = 999_999_999;

    private SchemaNumbers() {}

    /** One side's bound: the tighter of the inclusive and the exclusive one. */
    private record Bound(BigDecimal value, boolean inclusive, String keyword) {}

    private static Bound lower(Part part) {
        return tighter(read(part, "minimum", true), read(part, "exclusiveMinimum", false), 1);
    }

    private static Bound upper(Part part) {
        return tighter(read(part, "maximum", true), read(part, "exclusiveMaximum", false), -1);
    }

    private static Bound tighter(Bound inclusive, Bound exclusive, int direction) {
        if (inclusive.value == null || exclusive.value == null) {
            return inclusive.value == null ? exclusive : inclusive;
        }
        return exclusive.value.compareTo(inclusive.value) * direction >= 0 ? exclusive : inclusive;
    }

    private static Bound read(Part part, String keyword, boolean inclusive) {
        JsonNode value = part.get(keyword);
        if (value == null) {
            return new Bound(null, inclusive, keyword);
        }
        if (!value.isNumber()) {
            throw part.error(keyword, "expected a number, found " + SchemaDocument.shortened(value));
        }
        return new Bound(value.decimalValue(), inclusive, keyword);
    }

    static Node integer(Part part) {
        Bound lower = lower(part);
        Bound upper = upper(part);
        if (lower.value == null && upper.value == null) {
            Node nonZero = sequence(
                    new Node.Chars(CodePoints.range('1', '9')), JsonText.digits(0, JsonNumbers.MAX_DIGITS - 1));
            return sequence(optional(text("-")), either(text("0"), nonZero));
        }
        long low = -JsonNumbers.MAX;
        long high = JsonNumbers.MAX;
        if (lower.value != null) {
            long whole = whole(part, lower, RoundingMode.CEILING);
            low = !lower.inclusive && isWhole(lower.value) ? whole + 1 : whole;
        }
        if (upper.value != null) {
            long whole = whole(part, upper, RoundingMode.FLOOR);
            high = !upper.inclusive && isWhole(upper.value) ? whole - 1 : whole;
        }
        return JsonNumbers.integers(Math.max(low, -JsonNumbers.MAX), Math.min(high, JsonNumbers.MAX));
    }

    static Node number(Part part) {
        Bound lower = lower(part);
        Bound upper = upper(part);
        if (lower.value == null && upper.value == null) {
            return JsonNumbers.anyDecimal();
        }
        if (upper.value == null && lower.value.signum() == 0 && lower.inclusive) {
            return JsonText.unsigned(JsonNumbers.MAX_DIGITS, JsonNumbers.MAX_DIGITS);
        }
        long largest = OPEN_DECIMAL_BOUND;
        long low = lower.value == null ? 0 : decimalBound(part, lower);
        long high = upper.value == null ? 0 : decimalBound(part, upper);
        largest = Math.max(largest, 10 * Math.max(Math.abs(low), Math.abs(high)));
        return JsonNumbers.decimals(
                lower.value == null ? -largest : low,
                lower.value == null || lower.inclusive,
                upper.value == null ? largest : high,
                upper.value == null || upper.inclusive);
    }

    private static long decimalBound(Part part, Bound bound) {
        if (digits(bound.value) > MAX_DECIMAL_BOUND || !isWhole(bound.value)) {
            throw part.error(
                    bound.keyword,
                    "a bound of a number must be an integer of at most " + MAX_DECIMAL_BOUND + " digits, found "
                            + bound.value);
        }
        return bound.value.longValueExact();
    }

    private static boolean isWhole(BigDecimal value) {
        return value.signum() == 0 || value.stripTrailingZeros().scale() <= 0;
    }

    /** Digits before the point, without making a number of a huge exponent. */
    private static long digits(BigDecimal value) {
        return value.signum() == 0 ? 1 : (long) value.precision() - value.scale();
    }

    private static long whole(Part part, Bound bound, RoundingMode rounding) {
        if (digits(bound.value) > JsonNumbers.MAX_DIGITS) {
            throw part.error(
                    bound.keyword,
                    "bounds have at most " + JsonNumbers.MAX_DIGITS + " digits: leave the number unbounded");
        }
        if (digits(bound.value) < 0) {
            boolean away = bound.value.signum() > 0 == (rounding == RoundingMode.CEILING);
            return away ? bound.value.signum() : 0;
        }
        return bound.value.setScale(0, rounding).longValueExact();
    }
}
