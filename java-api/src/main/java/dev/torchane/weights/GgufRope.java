package dev.torchane.weights;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** RoPE's base and scaling from GGUF metadata, in the words of a Hugging Face configuration. */
final class GgufRope {

    private static final String LLAMA3 = "rope_freqs.weight";
    private static final String LONG = "rope_factors_long.weight";
    private static final String SHORT = "rope_factors_short.weight";

    /** Tensors that belong to RoPE, not to the model. */
    static final Set<String> FACTORS = Set.of(LLAMA3, LONG, SHORT);

    /** llama3's parameters in every model that has been published with them. */
    private static final double LOW_FREQUENCY_FACTOR = 1;

    private static final double HIGH_FREQUENCY_FACTOR = 4;
    private static final long ORIGINAL_CONTEXT = 8192;
    private static final double TOLERANCE = 1e-4;

    private final GgufMetadata metadata;
    private final GgufArchitecture architecture;
    private final long rotaryDim;

    /**
     * @param rotaryDim values of a head that are rotated
     */
    GgufRope(GgufMetadata metadata, GgufArchitecture architecture, long rotaryDim) {
        this.metadata = metadata;
        this.architecture = architecture;
        this.rotaryDim = rotaryDim;
    }

    /**
     * Adds rope_theta, rope_scaling and, for Gemma 3, the local base.
     *
     * @param factors those of {@link #FACTORS} that the file has, by name
     */
    void describe(ObjectNode config, Map<String, GgufFile.Tensor> factors) {
        double base = GgufConfig.shortest(metadata.real(key("rope.freq_base")).orElse(10_000));
        config.put("rope_theta", base);
        if (architecture == GgufArchitecture.GEMMA3) {
            config.put("rope_local_base_freq", 10_000.0);
        }
        String type = metadata.string(key("rope.scaling.type")).orElse("");
        if (factors.containsKey(LONG) || factors.containsKey(SHORT)) {
            longrope(config, type, factors);
            return;
        }
        if (factors.containsKey(LLAMA3)) {
            if (!type.isEmpty() && !type.equals("none")) {
                throw bad("rope.scaling.type", "is " + type + " beside " + LLAMA3 + "; expected only one of them");
            }
            llama3(config, factors.get(LLAMA3), base);
            return;
        }
        OptionalDouble factor = metadata.real(key("rope.scaling.factor"));
        OptionalDouble legacy = metadata.real(key("rope.scale_linear"));
        switch (type) {
            case "", "none" -> {
                double linear = factor.orElse(legacy.orElse(1));
                if (type.isEmpty() && linear != 1 && linear != 0) {
                    linear(config, linear);
                }
            }
            case "linear" -> linear(config, factor.orElse(legacy.orElse(1)));
            case "yarn" -> yarn(config, factor.orElseThrow(() -> bad("rope.scaling.factor", "is missing")));
            default -> throw bad("rope.scaling.type", "is " + type + ", expected none, linear or yarn");
        }
    }

    private static void linear(ObjectNode config, double factor) {
        config.putObject("rope_scaling").put("rope_type", "linear").put("factor", GgufConfig.shortest(factor));
    }

    private void yarn(ObjectNode config, double factor) {
        ObjectNode scaling = config.putObject("rope_scaling");
        scaling.put("rope_type", "yarn").put("factor", GgufConfig.shortest(factor));
        OptionalLong original = metadata.integer(key("rope.scaling.original_context_length"));
        original.ifPresent(length -> scaling.put("original_max_position_embeddings", length));
        metadata.real(key("rope.scaling.yarn_beta_fast"))
                .ifPresent(beta -> scaling.put("beta_fast", GgufConfig.shortest(beta)));
        metadata.real(key("rope.scaling.yarn_beta_slow"))
                .ifPresent(beta -> scaling.put("beta_slow", GgufConfig.shortest(beta)));
        if (metadata.real(key("rope.scaling.attn_factor")).orElse(1) != 1
                || metadata.real(key("rope.scaling.yarn_log_multiplier")).orElse(0) != 0) {
            throw bad("rope.scaling.attn_factor", "changes YaRN's attention scaling; such models are not supported");
        }
    }

    /** Phi-3's scaling: a divisor per frequency for short contexts, another for long ones. */
    private void longrope(ObjectNode config, String type, Map<String, GgufFile.Tensor> factors) {
        if (architecture != GgufArchitecture.PHI3 || factors.size() != 2 || factors.containsKey(LLAMA3)) {
            throw bad(
                    "rope.scaling.type",
                    "cannot be told: the file has " + String.join(", ", new TreeSet<>(factors.keySet())) + "; expected "
                            + LONG + " and " + SHORT + ", in a phi3");
        }
        if (!type.isEmpty() && !type.equals("longrope")) {
            throw bad("rope.scaling.type", "is " + type + " beside " + LONG + "; expected longrope");
        }
        long original = metadata.integer(key("rope.scaling.original_context_length"))
                .orElseThrow(() -> bad("rope.scaling.original_context_length", "is missing"));
        config.put("original_max_position_embeddings", original);
        ObjectNode scaling = config.putObject("rope_scaling").put("rope_type", "longrope");
        for (float factor : values(factors.get(SHORT))) {
            scaling.withArray("short_factor").add(GgufConfig.shortest(factor));
        }
        for (float factor : values(factors.get(LONG))) {
            scaling.withArray("long_factor").add(GgufConfig.shortest(factor));
        }
        scaling.put("original_max_position_embeddings", original);
        metadata.real(key("rope.scaling.attn_factor"))
                .ifPresent(factor -> scaling.put("attention_factor", GgufConfig.shortest(factor)));
    }

    /** Llama 3.1's scaling, stored as one divisor per frequency: finds the parameters that give these divisors. */
    private void llama3(ObjectNode config, GgufFile.Tensor tensor, double base) {
        float[] divisors = values(tensor);
        double factor = 1;
        boolean unscaled = true;
        for (float divisor : divisors) {
            factor = Math.max(factor, divisor);
            unscaled &= divisor == 1;
        }
        if (unscaled) {
            return;
        }
        long original =
                metadata.integer(key("rope.scaling.original_context_length")).orElse(ORIGINAL_CONTEXT);
        for (int i = 0; i < divisors.length; i++) {
            double frequency = Math.pow(base, -2.0 * i / rotaryDim);
            double expected = divisor(frequency, factor, original);
            if (!(Math.abs(divisors[i] - expected) <= TOLERANCE * expected)) {
                throw new CheckpointFault.BadTensor(
                                metadata.file(),
                                tensor.name(),
                                "has " + divisors[i] + " at " + i + ", where llama3 scaling by "
                                        + factor + " from " + original + " positions gives " + expected
                                        + "; other scalings are not supported")
                        .exception();
            }
        }
        config.putObject("rope_scaling")
                .put("rope_type", "llama3")
                .put("factor", GgufConfig.shortest(factor))
                .put("low_freq_factor", LOW_FREQUENCY_FACTOR)
                .put("high_freq_factor", HIGH_FREQUENCY_FACTOR)
                .put("original_max_position_embeddings", original);
    }

    private static double divisor(double frequency, double factor, long original) {
        double wavelength = 2 * Math.PI / frequency;
        if (wavelength < original / HIGH_FREQUENCY_FACTOR) {
            return 1;
        }
        if (wavelength > original / LOW_FREQUENCY_FACTOR) {
            return factor;
        }
        double smooth = (original / wavelength - LOW_FREQUENCY_FACTOR) / (HIGH_FREQUENCY_FACTOR - LOW_FREQUENCY_FACTOR);
        return 1 / ((1 - smooth) / factor + smooth);
    }

    private float[] values(GgufFile.Tensor tensor) {
        if (tensor.type() != WeightType.F32 || !tensor.shape().equals(List.of(rotaryDim / 2))) {
            throw new CheckpointFault.BadTensor(
                            metadata.file(),
                            tensor.name(),
                            "is " + tensor.type().label() + " " + tensor.shape() + ", expected F32 [" + rotaryDim / 2
                                    + "]")
                    .exception();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(rotaryDim / 2 * Float.BYTES);
            Dequantizer.dequantize(tensor.type(), tensor.data(), rotaryDim / 2, values);
            return values.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
        }
    }

    private String key(String name) {
        return architecture.id() + "." + name;
    }

    private CheckpointException bad(String name, String reason) {
        return new CheckpointFault.BadConfig(metadata.file(), key(name), reason).exception();
    }
}
