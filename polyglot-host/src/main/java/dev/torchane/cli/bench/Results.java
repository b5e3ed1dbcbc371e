package dev.torchane.cli.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** The figures of every contender at every work, and what follows from their medians. */
final class Results {

    /**
     * Ours beside one peer's.
     *
     * @param ours median
     * @param theirs median
     * @param ratio above 1 we are better
     * @param goal what the ratio should be, if something was promised
     */
    record Row(Work work, String peer, double ours, double theirs, double ratio, OptionalDouble goal) {

        boolean reached() {
            return goal.isEmpty() || ratio >= goal.getAsDouble();
        }
    }

    /** A promise about our own figures alone. */
    record Promise(String text, double found, double goal) {

        boolean reached() {
            return found >= goal;
        }
    }

    private final Map<Work, Map<Contender, List<Double>>> figures = new EnumMap<>(Work.class);

    void add(Work work, Contender contender, double figure) {
        figures.computeIfAbsent(work, any -> new LinkedHashMap<>())
                .computeIfAbsent(contender, any -> new ArrayList<>())
                .add(figure);
    }

    /** The measured figures of a work, in the order of the rounds. */
    Map<Contender, List<Double>> of(Work work) {
        return figures.getOrDefault(work, Map.of());
    }

    static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Our median at a work, if it was measured. */
    OptionalDouble ours(Work work) {
        return of(work).entrySet().stream()
                .filter(entry -> entry.getKey().ours())
                .mapToDouble(entry -> median(entry.getValue()))
                .findFirst();
    }

    /** A row for each work and peer. */
    List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (Work work : Work.values()) {
            OptionalDouble ours = ours(work);
            if (ours.isEmpty()) {
                continue;
            }
            of(work).forEach((contender, values) -> {
                if (!contender.ours()) {
                    double theirs = median(values);
                    rows.add(new Row(
                            work,
                            contender.name(),
                            ours.getAsDouble(),
                            theirs,
                            work.ratio(ours.getAsDouble(), theirs),
                            goal(work, contender.name())));
                }
            });
        }
        return rows;
    }

    private static OptionalDouble goal(Work work, String peer) {
        return switch (work) {
            case DECODE_1_Q4 ->
                peer.equals("llama.cpp Q4_1")
                        ? OptionalDouble.of(1.5)
                        : peer.equals("llama.cpp Q4_0") ? OptionalDouble.of(1) : OptionalDouble.empty();
            case DECODE_1_Q8 -> OptionalDouble.of(1.2);
            case DECODE_8_Q4 -> peer.startsWith("llama.cpp") ? OptionalDouble.of(1) : OptionalDouble.empty();
            case PREFILL_512_Q4 -> OptionalDouble.of(peer.equals("llama.cpp Q4_1") ? 3 : 1);
            case START_Q4 -> peer.startsWith("llama.cpp") ? OptionalDouble.of(1 / 1.5) : OptionalDouble.empty();
            case DECODE_CTX4000_Q4 -> OptionalDouble.empty();
        };
    }

    /** What was promised of our figures among themselves. */
    List<Promise> promises() {
        List<Promise> promises = new ArrayList<>();
        OptionalDouble one = ours(Work.DECODE_1_Q4);
        ours(Work.START_Q4).ifPresent(seconds -> promises.add(new Promise("1.5 s ÷ start", 1.5 / seconds, 1)));
        if (one.isPresent()) {
            ours(Work.DECODE_8_Q4)
                    .ifPresent(eight ->
                            promises.add(new Promise("eight streams ÷ one stream", eight / one.getAsDouble(), 4)));
            ours(Work.DECODE_CTX4000_Q4)
                    .ifPresent(far -> promises.add(
                            new Promise("behind 4,000 tokens ÷ behind 100", far / one.getAsDouble(), 0.8)));
        }
        return promises;
    }

    /** Half the distance between the quartiles, relative to the median: how much a figure is to be trusted. */
    static double spread(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        double low = sorted[Math.round((sorted.length - 1) * 0.25f)];
        double high = sorted[Math.round((sorted.length - 1) * 0.75f)];
        return (high - low) / 2 / median(Arrays.stream(sorted).boxed().toList());
    }
}
