package dev.torchane;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How far a compiled module is from torch, for one set of inputs.
 *
 * @param outputs the differences by output
 */
public record Validation(Map<String, Difference> outputs) {

    public Validation {
        outputs = Collections.unmodifiableMap(new LinkedHashMap<>(outputs));
    }

    /**
     * The difference in one output.
     *
     * @param largest largest absolute difference; NaN where only one side is not finite
     * @param relative {@code largest} divided by the largest absolute value that torch has, where that is above 1
     * @param mean mean absolute difference
     */
    public record Difference(double largest, double relative, double mean) {}

    /** The largest relative difference of all outputs; NaN where one is. */
    public double worst() {
        return outputs.values().stream().mapToDouble(Difference::relative).reduce(0, Math::max);
    }

    /** One line for each output. */
    @Override
    public String toString() {
        return outputs.entrySet().stream()
                .map(each -> String.format(
                        java.util.Locale.ROOT,
                        "%s: largest difference %.3g (relative %.3g), mean %.3g",
                        each.getKey(),
                        each.getValue().largest(),
                        each.getValue().relative(),
                        each.getValue().mean()))
                .collect(Collectors.joining("\n"));
    }
}
