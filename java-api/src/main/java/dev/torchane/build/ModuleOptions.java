package dev.torchane.build;

import dev.torchane.program.DType;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a build of a module contains, besides the module and its shapes; all of it is part of the cache key.
 *
 * @param target hardware the program is shaped for
 * @param precision type of activations in the program: fp32 or fp16
 * @param weights storage of the weights of linear layers
 */
public record ModuleOptions(Target target, DType precision, WeightEncoding weights) {

    public ModuleOptions {
        if (target == null || precision == null || weights == null) {
            throw new IllegalArgumentException("target, precision and weights must not be null, found " + target + ", "
                    + precision + ", " + weights);
        }
        if (precision != DType.FP32 && precision != DType.FP16) {
            throw new IllegalArgumentException("precision must be fp32 or fp16, found " + precision.mil());
        }
    }

    /** Target cpu, fp32 activations, fp32 weights. */
    public static ModuleOptions defaults() {
        return new ModuleOptions(Target.CPU, DType.FP32, WeightEncoding.FP32);
    }

    public ModuleOptions withTarget(Target other) {
        return new ModuleOptions(other, precision, weights);
    }

    /** Another precision; fp16 stores plain weights in fp16 too. */
    public ModuleOptions withPrecision(DType other) {
        boolean narrower = other == DType.FP16 && weights == WeightEncoding.FP32;
        return new ModuleOptions(target, other, narrower ? WeightEncoding.FP16 : weights);
    }

    public ModuleOptions withWeights(WeightEncoding other) {
        return new ModuleOptions(target, precision, other);
    }

    /** Each option as text, sorted by name: for keys and manifests. */
    public SortedMap<String, String> asText() {
        SortedMap<String, String> text = new TreeMap<>();
        text.put("target", target.id());
        text.put("precision", precision.mil());
        text.put("weights", weights.id());
        return text;
    }
}
