package dev.torchane.program;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What an operation takes and what it gives.
 *
 * @param kind the MIL operation
 * @param parameters in MIL's order
 * @param rule infers the types of the results
 */
public record Signature(String kind, List<Parameter> parameters, Rule rule) {

    /** Infers the result types of a call, or refuses it. */
    @FunctionalInterface
    public interface Rule {
        /**
         * The types of the results.
         *
         * @throws IllegalArgumentException naming the operation, what it got and what it expects
         */
        List<TensorType> infer(Call call);
    }

    public Signature {
        parameters = List.copyOf(parameters);
    }

    /** From the notation of {@link Parameter}, separated by commas. */
    static Signature of(String kind, String parameters, Rule rule) {
        return new Signature(
                kind,
                parameters.isBlank()
                        ? List.of()
                        : Arrays.stream(parameters.split(","))
                                .map(Parameter::parse)
                                .toList(),
                rule);
    }

    /** Whether results are known when the program is loaded. */
    public boolean compileTime() {
        return kind.contains("constexpr_");
    }

    /** Infers a call's result types; sizes beyond 63 bits are refused like any other misfit. */
    List<TensorType> infer(Call call) {
        try {
            return rule.infer(call);
        } catch (ArithmeticException e) {
            throw call.refuse("sizes whose product fits 63 bits");
        }
    }

    /** The parameter with a name, if there is one. */
    public Optional<Parameter> parameter(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name().equals(name)) {
                return Optional.of(parameter);
            }
        }
        return Optional.empty();
    }
}
