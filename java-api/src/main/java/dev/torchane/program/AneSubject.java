package dev.torchane.program;

import dev.torchane.program.AneRules.Profile;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** A function, and what its values are for. */
final class AneSubject {

    /** Parameters that take indices, sizes or axes rather than data. */
    private static final Set<String> INDEX_PARAMETERS = Set.of(
            "begin",
            "end",
            "stride",
            "strides",
            "size",
            "shape",
            "axes",
            "axis",
            "perm",
            "split_sizes",
            "num_splits",
            "pad",
            "reps",
            "dilations",
            "groups",
            "k",
            "target_shape",
            "epsilon");

    /** Operations that carry indices on. */
    private static final Set<String> INDEX_OPERATIONS = Set.of(
            "concat", "add", "sub", "mul", "squeeze", "expand_dims", "reshape", "slice_by_index", "cast", "shape");

    private final Function function;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> exempt = new HashSet<>();

    AneSubject(Function function, Profile profile) {
        this.function = function;
        Set<String> data = new HashSet<>();
        function.outputs().forEach(output -> data.add(output.name()));
        for (Operation operation : function.operations()) {
            operation
                    .constant()
                    .ifPresent(literal -> literals.put(operation.output().name(), literal));
        }
        for (Operation operation : function.operations().reversed()) {
            boolean carries = INDEX_OPERATIONS.contains(operation.kind())
                    && operation.outputs().stream()
                            .allMatch(result -> !data.contains(result.name())
                                    && !result.type().dtype().isFloat());
            boolean grouped = profile == Profile.COREAI_ANE
                    && operation
                            .composite()
                            .filter(group -> group.startsWith("rms_norm"))
                            .isPresent();
            operation.inputs().forEach((parameter, values) -> {
                boolean index = INDEX_PARAMETERS.contains(parameter) || carries;
                for (Value value : values) {
                    boolean inside = grouped && value.type().dtype() == DType.FP32;
                    if (!index && !inside) {
                        data.add(value.name());
                    }
                }
            });
        }
        function.inputs().forEach(value -> exempt(value, data));
        function.operations().forEach(each -> each.outputs().forEach(value -> exempt(value, data)));
    }

    private void exempt(Value value, Set<String> data) {
        if (!data.contains(value.name())) {
            exempt.add(value.name());
        }
    }

    /** Whether a value is no data: indices, shapes, parameters, the inside of a group. */
    boolean exempt(Value value) {
        return exempt.contains(value.name());
    }

    Literal literal(Operation operation, String parameter) {
        return operation
                .input(parameter)
                .map(value -> literals.get(value.name()))
                .orElse(null);
    }

    String place(Operation operation) {
        return operation.kind()
                + (operation.outputs().isEmpty()
                        ? ""
                        : " '" + operation.output().name() + "'");
    }

    void all(Consumer<Operation> look) {
        function.operations().forEach(look);
    }

    void each(String kind, Consumer<Operation> look) {
        each(Set.of(kind), look);
    }

    void each(Set<String> kinds, Consumer<Operation> look) {
        function.operations().stream()
                .filter(operation -> kinds.contains(operation.kind()))
                .forEach(look);
    }

    /** Every value that is data, constants aside, with its place. */
    void data(BiConsumer<Value, String> look) {
        function.inputs().forEach(input -> {
            if (!exempt(input)) {
                look.accept(input, "input '" + input.name() + "'");
            }
        });
        for (Operation operation : function.operations()) {
            if (operation.kind().equals("const") || operation.kind().contains("constexpr_")) {
                continue;
            }
            for (Value result : operation.outputs()) {
                if (!exempt(result)) {
                    look.accept(result, place(operation));
                }
            }
        }
    }

    /** Inputs, states and outputs. */
    void boundary(BiConsumer<Value, String> look) {
        function.inputs().forEach(input -> look.accept(input, "input '" + input.name() + "'"));
        function.outputs().forEach(output -> look.accept(output, "output '" + output.name() + "'"));
    }

    long weightBytes() {
        long bytes = 0;
        for (Operation operation : function.operations()) {
            if (operation.constant().orElse(null) instanceof Literal.Blob blob) {
                bytes += blob.type().bytes();
            }
        }
        return bytes;
    }
}
