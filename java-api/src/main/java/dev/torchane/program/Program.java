package dev.torchane.program;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A MIL program.
 *
 * @param version of the format, such as {@code 1.3}
 * @param buildInfo free key-value pairs of the producer
 * @param functions in the order of the text
 */
public record Program(String version, Map<String, String> buildInfo, List<Function> functions) {

    public Program {
        buildInfo = Collections.unmodifiableMap(new LinkedHashMap<>(buildInfo));
        functions = List.copyOf(functions);
    }

    /**
     * The same program with every reference to a weight file replaced, for producers that learn offsets late.
     *
     * @param relocation answers the blob that takes the place of one
     */
    public Program withBlobs(UnaryOperator<Literal.Blob> relocation) {
        return new Program(
                version,
                buildInfo,
                functions.stream()
                        .map(function -> function.withBlobs(relocation))
                        .toList());
    }

    /**
     * The function with a name.
     *
     * @throws IllegalArgumentException when there is none; the message lists the names
     */
    public Function function(String name) {
        for (Function function : functions) {
            if (function.name().equals(name)) {
                return function;
            }
        }
        throw new IllegalArgumentException("the program has no function '" + name + "'; it has "
                + functions.stream().map(Function::name).toList());
    }
}
