package dev.torchane.program;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a function consists of, for people.
 *
 * @param name its name
 * @param operations how many operations of each kind, constants left out
 * @param groups how many groups of each kind
 * @param constants how many constants stand in the text
 * @param weightBytes bytes of the weight file that it refers to, by element type; shared blobs count once
 */
public record FunctionSummary(
        String name,
        Map<String, Integer> operations,
        Map<String, Integer> groups,
        int constants,
        Map<DType, Long> weightBytes) {

    /** Summarises a function. */
    public static FunctionSummary of(Function function) {
        Map<String, Integer> operations = new TreeMap<>();
        Map<String, Integer> groups = new TreeMap<>();
        Map<DType, Long> bytes = new TreeMap<>();
        Set<String> seen = new TreeSet<>();
        int constants = 0;
        for (Operation operation : function.operations()) {
            switch (operation.constant().orElse(null)) {
                case Literal.Blob(TensorType type, String path, long offset) -> {
                    if (seen.add(path + "@" + offset)) {
                        bytes.merge(type.dtype(), type.bytes(), Long::sum);
                    }
                }
                case null -> operations.merge(operation.kind(), 1, Integer::sum);
                default -> constants++;
            }
            operation.composite().filter(seen::add).ifPresent(group -> groups.merge(kind(group), 1, Integer::sum));
        }
        return new FunctionSummary(function.name(), operations, groups, constants, bytes);
    }

    private static String kind(String group) {
        int mark = group.indexOf('#');
        return mark < 0 ? group : group.substring(0, mark);
    }
}
