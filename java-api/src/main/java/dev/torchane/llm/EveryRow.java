package dev.torchane.llm;

import dev.torchane.TorchAneException;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A language model's function whose head runs on every row of the window.
 *
 * <p>Given: {@code expand_dims}(pick), {@code mul}(hidden, ·), {@code reduce_sum}, the head on {@code [1, 1, hidden]}, {@code logits [1,
 * vocab]}. Result: the head on hidden {@code [1, rows, hidden]}, {@code logits [rows, vocab]}; {@code pick} is still an input, and unread.
 */
public final class EveryRow {

    private final Map<String, Operation> makers = new HashMap<>();

    private EveryRow(Function source) {
        source.operations().forEach(each -> each.outputs().forEach(output -> makers.put(output.name(), each)));
    }

    /**
     * Rewrites a function.
     *
     * @param name the result's
     * @throws TorchAneException when it does not pick a row as a language model's functions do
     */
    public static Function of(Function prefill, String name) {
        EveryRow rows = new EveryRow(prefill);
        if (prefill.operations().stream().noneMatch(each -> rows.hidden(each).isPresent())) {
            throw new TorchAneException(
                    "function " + prefill.name() + " does not pick a row before its head: its rows cannot be scored");
        }
        return FunctionCopy.of(prefill, ProgramBuilder.create().function(name, prefill.opset()), rows::change);
    }

    private Optional<List<Value>> change(Operation operation, FunctionCopy copy) {
        Optional<Value> hidden = hidden(operation);
        if (hidden.isPresent()) {
            return Optional.of(List.of(copy.value(hidden.get())));
        }
        return operation.kind().equals("reshape") ? widened(operation, copy) : Optional.empty();
    }

    /** What is multiplied by the unsqueezed {@code pick} and summed up by an operation, if it is that operation. */
    private Optional<Value> hidden(Operation sum) {
        if (!sum.kind().equals("reduce_sum")) {
            return Optional.empty();
        }
        return maker(sum, "x").filter(product -> product.kind().equals("mul")).flatMap(product -> {
            if (isPick(maker(product, "y"))) {
                return product.input("x");
            }
            return isPick(maker(product, "x")) ? product.input("y") : Optional.empty();
        });
    }

    private static boolean isPick(Optional<Operation> operation) {
        return operation
                .filter(each -> each.kind().equals("expand_dims"))
                .flatMap(each -> each.input("x"))
                .filter(value -> value.name().equals("pick"))
                .isPresent();
    }

    private Optional<Operation> maker(Operation reader, String parameter) {
        return reader.input(parameter).map(value -> makers.get(value.name()));
    }

    /** A reshape of what has more rows now: they are the last axis but one. */
    private static Optional<List<Value>> widened(Operation reshape, FunctionCopy copy) {
        long now = copy.value(reshape.input("x").orElseThrow()).type().elements();
        long before = reshape.output().type().elements();
        if (now == before) {
            return Optional.empty();
        }
        List<Integer> shape = new ArrayList<>(reshape.output().type().shape());
        int axis = shape.size() - 2;
        shape.set(axis, Math.toIntExact(now / before) * shape.get(axis));
        return Optional.of(copy.operation(reshape, Map.of("shape", Literal.int32s(shape))));
    }
}
