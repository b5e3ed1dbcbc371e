package dev.torchane.engine.jvm;

import dev.torchane.program.Manifest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The forms in which a bundle's linear layers will be packed, told from its manifest before any weight is read. */
final class ExpectedPanels {

    /** Encodings of a smaller part of the bytes are those of norms and biases. */
    private static final double SHARE = 0.05;

    private ExpectedPanels() {}

    /** Samples of each form, the one with the most bytes first. */
    static List<Panels> of(List<Manifest.Weight> weights) {
        Map<String, Long> bytes = weights.stream()
                .collect(Collectors.groupingBy(
                        Manifest.Weight::encoding, Collectors.summingLong(Manifest.Weight::bytes)));
        long all = bytes.values().stream().mapToLong(Long::longValue).sum();
        List<Panels> samples = new ArrayList<>();
        bytes.entrySet().stream()
                .filter(entry -> entry.getValue() > SHARE * all)
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .forEach(entry -> sample(entry.getKey()).ifPresent(samples::add));
        return samples;
    }

    private static Optional<Panels> sample(String encoding) {
        return Optional.ofNullable(
                switch (encoding) {
                    case "fp32" -> WarmUp.f32();
                    case "fp16" -> WarmUp.f16();
                    case "int8" -> WarmUp.i8();
                    case "int4", "q4_0", "q4_1", "q2_k", "q3_k", "q4_k" -> WarmUp.blocks(true);
                    case "q5_0", "q5_1", "q5_k", "q6_k", "q8_0" -> WarmUp.blocks(false);
                    case "lut4", "lut4g32" -> WarmUp.palette();
                    default -> null;
                });
    }
}
