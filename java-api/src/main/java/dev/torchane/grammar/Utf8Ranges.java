package dev.torchane.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The UTF-8 encodings of a set of characters, as sequences of byte sets (RFC 3629). */
final class Utf8Ranges {

    private static final int[] LAST_OF_LENGTH = {0x7F, 0x7FF, 0xFFFF, Character.MAX_CODE_POINT};

    private final List<List<ByteSet>> sequences = new ArrayList<>();
    private ByteSet single = ByteSet.range(1, 0);

    private Utf8Ranges() {}

    /** Sequences that together match exactly the encodings of the set; all single bytes are one sequence. */
    static List<List<ByteSet>> of(CodePoints set) {
        Utf8Ranges ranges = new Utf8Ranges();
        for (CodePoints.Range range : set.ranges()) {
            int first = range.first();
            for (int last : LAST_OF_LENGTH) {
                if (first <= Math.min(last, range.last())) {
                    ranges.add(first, Math.min(last, range.last()));
                    first = last + 1;
                }
            }
        }
        if (!ranges.single.equals(ByteSet.range(1, 0))) {
            ranges.sequences.add(List.of(ranges.single));
        }
        return ranges.sequences;
    }

    /** Encodings of one length: split until every byte but a prefix of equal ones runs over a whole range. */
    private void add(int first, int last) {
        byte[] low = encoded(first);
        byte[] high = encoded(last);
        for (int tail = low.length - 1; tail > 0; tail--) {
            int mask = (1 << 6 * tail) - 1;
            if ((first & ~mask) != (last & ~mask)) {
                if ((first & mask) != 0) {
                    add(first, first | mask);
                    add((first | mask) + 1, last);
                    return;
                }
                if ((last & mask) != mask) {
                    add(first, (last & ~mask) - 1);
                    add(last & ~mask, last);
                    return;
                }
            }
        }
        if (low.length == 1) {
            single = single.or(ByteSet.range(first, last));
            return;
        }
        List<ByteSet> sequence = new ArrayList<>();
        for (int i = 0; i < low.length; i++) {
            sequence.add(ByteSet.range(low[i] & 0xFF, high[i] & 0xFF));
        }
        sequences.add(List.copyOf(sequence));
    }

    private static byte[] encoded(int codePoint) {
        return Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    }
}
