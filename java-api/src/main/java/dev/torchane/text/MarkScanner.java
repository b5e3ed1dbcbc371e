package dev.torchane.text;

import java.util.Arrays;
import java.util.List;

/**
 * Looks for the first of some marks in a text that comes in pieces. Text that may be the beginning of a mark is held back.
 * The mark that is complete first is the one found; of those that end together, the longest. The result does not depend on
 * where the pieces are cut (Knuth, Morris and Pratt's automaton, one for each mark).
 */
final class MarkScanner {

    private final List<String> marks;
    private final int[][] fallbacks;
    private final int[] matched;
    private final StringBuilder held = new StringBuilder();
    private int found = -1;

    MarkScanner(List<String> marks) {
        this.marks = List.copyOf(marks);
        this.fallbacks = this.marks.stream().map(MarkScanner::fallbacks).toArray(int[][]::new);
        this.matched = new int[this.marks.size()];
    }

    /**
     * Reads on from {@code from}, appending to {@code out} the text that belongs to no mark.
     *
     * @return where the text goes on behind a mark, which {@link #found} then names; or −1 at the end of the text
     */
    int scan(String text, int from, StringBuilder out) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            held.append(c);
            int longest = 0;
            int complete = -1;
            for (int m = 0; m < matched.length; m++) {
                String mark = marks.get(m);
                int length = advance(mark, fallbacks[m], matched[m], c);
                matched[m] = length;
                longest = Math.max(longest, length);
                if (length == mark.length()
                        && (complete < 0 || length > marks.get(complete).length())) {
                    complete = m;
                }
            }
            int certain = held.length()
                    - (complete < 0 ? longest : marks.get(complete).length());
            out.append(held, 0, certain);
            held.delete(0, certain);
            if (complete >= 0) {
                reset();
                found = complete;
                return i + 1;
            }
        }
        return -1;
    }

    /** Index of the mark that {@link #scan} has found last. */
    int found() {
        return found;
    }

    /** Ends the text: returns what was held back. */
    String finish() {
        String rest = held.toString();
        reset();
        return rest;
    }

    private void reset() {
        held.setLength(0);
        Arrays.fill(matched, 0);
    }

    private static int advance(String mark, int[] fallback, int length, char c) {
        int state = length;
        while (state > 0 && mark.charAt(state) != c) {
            state = fallback[state - 1];
        }
        return mark.charAt(state) == c ? state + 1 : 0;
    }

    private static int[] fallbacks(String mark) {
        int[] fallback = new int[mark.length()];
        for (int i = 1; i < mark.length(); i++) {
            fallback[i] = advance(mark, fallback, fallback[i - 1], mark.charAt(i));
        }
        return fallback;
    }
}
