package dev.torchane.build;

import dev.torchane.program.TensorType;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one function of a compiled module is given: a type with a static shape for each input, in order. A module compiled for
 * several shapes has one function for each, over one set of weights.
 *
 * <p>Names are those of the parameters of the module's {@code forward}; if none of them is, inputs are passed in their order.
 * Integers are int32 here and int64 for torch.
 *
 * @param types type of each input by name
 */
public record ModuleInputs(Map<String, TensorType> types) {

    public ModuleInputs {
        types = Collections.unmodifiableMap(new LinkedHashMap<>(types));
        types.forEach((name, type) -> {
            if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
                throw new IllegalArgumentException(
                        "an input is called '" + name + "'; names are letters, digits and underscores");
            }
            if (!type.dtype().isFloat() && !type.dtype().mil().matches("int32|bool")) {
                throw new IllegalArgumentException("input '" + name + "' is of type "
                        + type.dtype().mil() + "; inputs are fp32, fp16, int32 or bool");
            }
            if (type.elements() == 0) {
                throw new IllegalArgumentException("input '" + name + "' of type " + type + " has no elements");
            }
        });
        if (types.isEmpty()) {
            throw new IllegalArgumentException("a module needs at least one input");
        }
    }

    /** One input. */
    public static ModuleInputs of(String name, TensorType type) {
        return new ModuleInputs(Map.of(name, type));
    }

    /** These inputs and one more. */
    public ModuleInputs and(String name, TensorType type) {
        Map<String, TensorType> more = new LinkedHashMap<>(types);
        if (more.put(name, type) != null) {
            throw new IllegalArgumentException("input '" + name + "' is given twice");
        }
        return new ModuleInputs(more);
    }
}
