package dev.torchane.weights;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** RoPE's base and scaling from GGUF metadata, in the words of a Hugging Face configuration. */
final class GgufRope {

    /** llama3's parameters in every model that has been published with them. */
    private static final double LOW_FREQUENCY_FACTOR = 1;

    private static final double HIGH_FREQUENCY_FACTOR = 4;
    private static final long ORIGINAL_CONTEXT = 8192;
    private static final double TOLERANCE = 1e-4;

    private final GgufMetadata metadata;
    private final GgufArchitecture architecture;
    private final long headDim;

    GgufRope(GgufMetadata metadata, GgufArchitecture architecture, long headDim) {
        this.metadata = metadata;
        this.architecture = architecture;
        this.headDim = headDim;
    }

    /** Adds rope_theta, rope_scaling and, for Gemma, the local base. */
    void describe(ObjectNode config, Optional<GgufFile.Tensor> factors) {
        double base = GgufConfig.shortest(metadata.real(key("rope.freq_base")).orElse(10_000));
        config.put("rope_theta", base);
        if (architecture == GgufArchitecture.GEMMA3) {
            config.put("rope_local_base_freq", 10_000.0);
        }
        String type = metadata.string(key("rope.scaling.type")).orElse("");
        if (factors.isPresent()) {
            if (!type.isEmpty() && !type.equals("none")) {
                throw bad("rope.scaling.type", "is " + type + " beside rope_freqs.weight; expected only one of them");
            }
            llama3(config, factors.get(), base);
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
            double frequency = Math.pow(base, -2.0 * i / headDim);
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
        if (tensor.type() != WeightType.F32 || !tensor.shape().equals(java.util.List.of(headDim / 2))) {
            throw new CheckpointFault.BadTensor(
                            metadata.file(),
                            tensor.name(),
                            "is " + tensor.type().label() + " " + tensor.shape() + ", expected F32 [" + headDim / 2
                                    + "]")
                    .exception();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(headDim / 2 * Float.BYTES);
            Dequantizer.dequantize(tensor.type(), tensor.data(), headDim / 2, values);
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
