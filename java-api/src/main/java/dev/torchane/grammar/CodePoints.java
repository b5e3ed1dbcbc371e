package dev.torchane.grammar;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** A set of Unicode scalar values (surrogates never belong to it), as ascending ranges that do not touch. */
final class CodePoints {

    private static final int SURROGATES = 0xD800;
    private static final int AFTER_SURROGATES = 0xE000;

    static final CodePoints NONE = new CodePoints(List.of());
    static final CodePoints ALL = range(0, Character.MAX_CODE_POINT);

    private final List<Range> ranges;

    /** Both ends inclusive. */
    record Range(int first, int last) {}

    private CodePoints(List<Range> ranges) {
        this.ranges = ranges;
    }

    static CodePoints range(int first, int last) {
        return normalized(List.of(new Range(first, last)));
    }

    static CodePoints of(int... members) {
        return normalized(Arrays.stream(members).mapToObj(c -> new Range(c, c)).toList());
    }

    private static CodePoints normalized(List<Range> any) {
        List<Range> split = new ArrayList<>();
        for (Range range : any) {
            addIfAny(split, range.first, Math.min(range.last, SURROGATES - 1));
            addIfAny(split, Math.max(range.first, AFTER_SURROGATES), range.last);
        }
        split.sort(Comparator.comparingInt(Range::first));
        List<Range> merged = new ArrayList<>();
        for (Range range : split) {
            if (!merged.isEmpty() && range.first <= merged.getLast().last + 1) {
                Range previous = merged.removeLast();
                merged.add(new Range(previous.first, Math.max(previous.last, range.last)));
            } else {
                merged.add(range);
            }
        }
        return new CodePoints(List.copyOf(merged));
    }

    private static void addIfAny(List<Range> ranges, int first, int last) {
        if (first <= last) {
            ranges.add(new Range(first, last));
        }
    }

    CodePoints or(CodePoints other) {
        List<Range> all = new ArrayList<>(ranges);
        all.addAll(other.ranges);
        return normalized(all);
    }

    CodePoints not() {
        List<Range> gaps = new ArrayList<>();
        int next = 0;
        for (Range range : ranges) {
            addIfAny(gaps, next, range.first - 1);
            next = range.last + 1;
        }
        addIfAny(gaps, next, Character.MAX_CODE_POINT);
        return normalized(gaps);
    }

    CodePoints minus(CodePoints other) {
        return not().or(other).not();
    }

    boolean contains(int codePoint) {
        return ranges.stream().anyMatch(r -> r.first <= codePoint && codePoint <= r.last);
    }

    boolean isEmpty() {
        return ranges.isEmpty();
    }

    List<Range> ranges() {
        return ranges;
    }
}
