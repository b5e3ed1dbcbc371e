package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Operand;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * States of fp32 become states of fp16, the only ones that Core ML keeps. What is read stays in fp16 while it is only cut, updated
 * and reshaped, so that a state is never converted whole.
 *
 * <pre>
 * Given   s = read_state(fp32); t = slice_update(s, update, …); write_state(t); y = slice_by_index(t, …)
 * Result  s = read_state(fp16); t = slice_update(s, cast(update, "fp16"), …); write_state(t); y = cast(slice_by_index(t, …), "fp32")
 * </pre>
 */
final class KeepStates implements FunctionCopy.Change {

    /** Operations that give elements of {@code x} as they are. */
    private static final Set<String> MOVING = Set.of(
            "slice_update",
            "slice_by_index",
            "slice_by_size",
            "reshape",
            "transpose",
            "expand_dims",
            "squeeze",
            "identity");

    private final String function;
    private final FunctionBuilder to;
    private final Map<String, Value> widened = new HashMap<>();

    KeepStates(String function, FunctionBuilder to) {
        this.function = function;
        this.to = to;
    }

    @Override
    public Value input(Value input, FunctionBuilder into) {
        if (!input.state()) {
            return into.input(input.name(), input.type());
        }
        DType dtype = input.type().dtype();
        if (dtype != DType.FP32 && dtype != DType.FP16) {
            throw new TorchAneException("function '" + function + "': Core ML keeps states in fp16; '" + input.name()
                    + "' is " + input.type() + ": let the caller keep it (--states VALUES)");
        }
        return into.state(input.name(), input.type().withDtype(DType.FP16));
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        boolean moves = MOVING.contains(operation.kind())
                && operation.input("x").filter(x -> half(x, copy)).isPresent();
        Map<String, Operand> replaced = new LinkedHashMap<>();
        if (operation.kind().equals("write_state")) {
            replaced.put("data", narrow(copy.value(operation.input("data").orElseThrow())));
        } else if (moves) {
            operation.input("update").ifPresent(update -> replaced.put("update", narrow(copy.value(update))));
        } else if (!operation.kind().equals("read_state")) {
            operation.inputs().forEach((parameter, values) -> {
                if (values.stream().anyMatch(value -> half(value, copy))) {
                    List<Value> wide = values.stream()
                            .map(value -> half(value, copy) ? widen(copy.value(value)) : copy.value(value))
                            .toList();
                    replaced.put(parameter, wide.size() == 1 ? wide.getFirst() : Operand.many(wide));
                }
            });
        }
        return replaced.isEmpty() ? Optional.empty() : Optional.of(copy.operation(operation, replaced));
    }

    @Override
    public Map<String, Value> outputs(Map<String, Value> results, FunctionCopy copy, List<Value> source) {
        Map<String, Value> wide = new LinkedHashMap<>(results);
        source.stream()
                .filter(value -> half(value, copy))
                .forEach(value -> wide.put(value.name(), widen(copy.value(value))));
        return wide;
    }

    /** Whether a value of the source is kept in fp16 where the source has fp32. */
    private static boolean half(Value source, FunctionCopy copy) {
        Value value = copy.value(source);
        return !value.state() && value.type().dtype() != source.type().dtype();
    }

    private Value narrow(Value value) {
        return value.type().dtype() == DType.FP16 ? value : to.cast(value.name() + "_fp16", value, DType.FP16);
    }

    private Value widen(Value value) {
        return widened.computeIfAbsent(value.name(), name -> to.cast(name + "_fp32", value, DType.FP32));
    }
}
