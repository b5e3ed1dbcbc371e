package dev.torchane.diffusion;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The entries of a {@code scheduler_config.json}. What cannot be honoured is refused by its name; an entry of null counts as absent. */
final class SchedulerOptions {

    /** Entries that some scheduler of diffusers' family reads; a class ignores those that are not its own, as diffusers does. */
    private static final Set<String> KNOWN = Set.of(
            "num_train_timesteps",
            "beta_start",
            "beta_end",
            "beta_schedule",
            "trained_betas",
            "prediction_type",
            "timestep_spacing",
            "steps_offset",
            "rescale_betas_zero_snr",
            "solver_order",
            "thresholding",
            "dynamic_thresholding_ratio",
            "sample_max_value",
            "algorithm_type",
            "solver_type",
            "lower_order_final",
            "euler_at_final",
            "use_karras_sigmas",
            "use_exponential_sigmas",
            "use_beta_sigmas",
            "use_lu_lambdas",
            "use_flow_sigmas",
            "flow_shift",
            "final_sigmas_type",
            "lambda_min_clipped",
            "variance_type",
            "use_dynamic_shifting",
            "time_shift_type",
            "interpolation_type",
            "sigma_min",
            "sigma_max",
            "timestep_type",
            "skip_prk_steps",
            "set_alpha_to_one",
            "clip_sample",
            "clip_sample_range");

    private final String name;
    private final Map<String, JsonNode> entries = new TreeMap<>();

    /**
     * @param name stands in front of messages: the file, and the scheduler's class
     * @throws TorchAneException when there is an entry that no supported scheduler knows
     */
    SchedulerOptions(String name, JsonNode config) {
        this.name = name;
        for (Map.Entry<String, JsonNode> entry : config.properties()) {
            if (entry.getKey().startsWith("_") || entry.getValue().isNull()) {
                continue;
            }
            if (!KNOWN.contains(entry.getKey())) {
                throw new TorchAneException(name + ": " + entry.getKey() + " (" + entry.getValue()
                        + ") is not an option that is known here; remove it if the model does not need it");
            }
            entries.put(entry.getKey(), entry.getValue());
        }
    }

    boolean has(String option) {
        return entries.containsKey(option);
    }

    double number(String option, double otherwise) {
        JsonNode node = entries.get(option);
        if (node == null) {
            return otherwise;
        }
        if (node.isTextual() && node.asText().equalsIgnoreCase("-inf")) {
            return Double.NEGATIVE_INFINITY;
        }
        if (!node.isNumber()) {
            throw wrong(option, node, "a number");
        }
        return node.doubleValue();
    }

    int integer(String option, int otherwise, int least, int most) {
        JsonNode node = entries.get(option);
        if (node == null) {
            return otherwise;
        }
        double value = node.isNumber() ? node.doubleValue() : Double.NaN;
        if (!(value == Math.rint(value) && value >= least && value <= most)) {
            throw wrong(option, node, "a whole number from " + least + " to " + most);
        }
        return (int) value;
    }

    boolean flag(String option, boolean otherwise) {
        JsonNode node = entries.get(option);
        if (node == null) {
            return otherwise;
        }
        if (!node.isBoolean()) {
            throw wrong(option, node, "true or false");
        }
        return node.booleanValue();
    }

    /** One of an enum's constants, written in lower case in the file. */
    <E extends Enum<E>> E choice(String option, E otherwise, Class<E> choices) {
        JsonNode node = entries.get(option);
        if (node == null) {
            return otherwise;
        }
        return Arrays.stream(choices.getEnumConstants())
                .filter(choice -> text(choice).equals(node.asText()))
                .findFirst()
                .orElseThrow(() -> wrong(
                        option,
                        node,
                        Arrays.stream(choices.getEnumConstants())
                                .map(SchedulerOptions::text)
                                .collect(Collectors.joining(", "))));
    }

    float[] numbers(String option) {
        JsonNode node = entries.get(option);
        if (!node.isArray() || node.isEmpty()) {
            throw wrong(option, node, "a list of numbers");
        }
        float[] values = new float[node.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) node.get(i).doubleValue();
        }
        return values;
    }

    /** Refuses any other value than these for an option. */
    void require(String option, String... supported) {
        JsonNode node = entries.get(option);
        if (node != null && !Arrays.asList(supported).contains(node.asText())) {
            throw wrong(option, node, String.join(", ", supported));
        }
    }

    private TorchAneException wrong(String option, JsonNode found, String expected) {
        return new TorchAneException(name + ": " + option + " is " + found + "; supported: " + expected);
    }

    private static String text(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }
}
