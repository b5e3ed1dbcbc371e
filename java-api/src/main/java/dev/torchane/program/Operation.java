package dev.torchane.program;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One operation of a function, in SSA form.
 *
 * @param kind the MIL operation, such as {@code matmul}; {@code const} carries its literal as the attribute {@code val}
 * @param inputs operands by parameter name, in MIL's order; most have one value, {@code concat}'s {@code values} several
 * @param outputs the values it defines
 * @param attributes {@code name}, {@code val} of a constant, {@code composite} of a group member
 */
public record Operation(
        String kind, Map<String, List<Value>> inputs, List<Value> outputs, Map<String, Literal> attributes) {

    /** Attribute that names the group an operation belongs to, such as {@code rms_norm#12}. */
    public static final String COMPOSITE = "composite";

    public Operation {
        inputs = Collections.unmodifiableMap(new LinkedHashMap<>(inputs));
        outputs = List.copyOf(outputs);
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
    }

    /** The single operand of a parameter, if given. */
    public Optional<Value> input(String parameter) {
        List<Value> values = inputs.get(parameter);
        return values == null || values.isEmpty() ? Optional.empty() : Optional.of(values.getFirst());
    }

    /** The only result. */
    public Value output() {
        return outputs.getFirst();
    }

    /** The group this operation belongs to, if any. */
    public Optional<String> composite() {
        return attributes.get(COMPOSITE) instanceof Literal.Text(String group) ? Optional.of(group) : Optional.empty();
    }

    /** The literal of a {@code const}, if this is one. */
    public Optional<Literal> constant() {
        return kind.equals("const") ? Optional.ofNullable(attributes.get("val")) : Optional.empty();
    }
}
