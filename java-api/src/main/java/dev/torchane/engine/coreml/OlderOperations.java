package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What iOS 18 brought, in the operations before it.
 *
 * <pre>
 * Given   scaled_dot_product_attention(q, k, v, mask)
 * Result  matmul(softmax(matmul(q / √E, k, transpose_y) + mask), v); select(mask, scores, −40000) for a mask of bool
 *
 * Given   slice_update(x, update, begin, end)
 * Result  select(columns from begin to end, gather(update, column − begin), x), axis by axis
 * </pre>
 */
final class OlderOperations implements FunctionCopy.Change {

    private static final double CLOSED = -40000;

    private final FunctionBuilder to;
    private final Map<String, Operation> producers = new HashMap<>();

    OlderOperations(FunctionBuilder to) {
        this.to = to;
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        operation.outputs().forEach(value -> producers.put(value.name(), operation));
        return switch (operation.kind()) {
            case "scaled_dot_product_attention" -> Optional.of(List.of(attention(operation, copy)));
            case "slice_update" -> Optional.of(List.of(update(operation, copy)));
            default -> Optional.empty();
        };
    }

    private Value attention(Operation operation, FunctionCopy copy) {
        String name = operation.output().name();
        Value query = copy.value(operation.input("query").orElseThrow());
        Value key = copy.value(operation.input("key").orElseThrow());
        Value value = copy.value(operation.input("value").orElseThrow());
        DType dtype = query.type().dtype();
        double scale = 1 / Math.sqrt(query.type().axis(-1));
        Value scaled = to.mul(name + "_scaled", query, Literal.scalar(dtype, scale));
        Value scores = to.matmul(name + "_scores", scaled, key, false, true);
        Optional<Value> mask = operation.input("attn_mask").map(copy::value);
        if (mask.isPresent()) {
            scores = mask.get().type().dtype() == DType.BOOL
                    ? to.select(name + "_masked", mask.get(), scores, Literal.scalar(dtype, CLOSED))
                    : to.add(name + "_masked", scores, mask.get());
        }
        return to.matmul(name, to.softmax(name + "_weights", scores, -1), value, false, false);
    }

    private Value update(Operation operation, FunctionCopy copy) {
        String name = operation.output().name();
        Value x = copy.value(operation.input("x").orElseThrow());
        Value update = copy.value(operation.input("update").orElseThrow());
        List<Integer> shape = x.type().shape();
        update = expanded(operation, update, shape.size());
        requireSteps(operation);
        Optional<Value> inside = Optional.empty();
        for (int axis = 0; axis < shape.size(); axis++) {
            int size = shape.get(axis);
            int count = update.type().axis(axis);
            Optional<List<Double>> constant = begin(operation, axis);
            if (constant.isEmpty() && size == count) {
                continue; // an update as large as the axis begins at 0
            }
            if (constant.isPresent() && size == count) {
                continue;
            }
            String at = name + "_axis" + axis;
            Value offset = constant.isPresent()
                    ? to.constant(Literal.int32s(normalised(constant.get().getFirst(), size)))
                    : component(operation, copy, axis, at);
            Value columns =
                    to.constant(Literal.int32s(IntStream.range(0, size).boxed().toList()));
            Value relative = to.sub(at + "_relative", columns, offset);
            Value low = to.binary("greater_equal", at + "_from", relative, Literal.int32(0));
            Value high = to.binary("less", at + "_to", relative, Literal.int32(count));
            Value open = to.binary("logical_and", at + "_open", low, high);
            Value clipped = to.binary(
                    "minimum",
                    at + "_last",
                    to.binary("maximum", at + "_first", relative, Literal.int32(0)),
                    Literal.int32(count - 1));
            update = to.gather(at + "_spread", update, clipped, axis);
            int[] spread = new int[shape.size()];
            java.util.Arrays.fill(spread, 1);
            spread[axis] = size;
            Value mask = to.reshape(at + "_mask", open, spread);
            inside = Optional.of(inside.map(all -> to.binary("logical_and", at + "_all", all, mask))
                    .orElse(mask));
        }
        Value spread = update;
        return inside.map(mask -> to.select(name, mask, spread, x)).orElseGet(() -> to.unary("identity", name, spread));
    }

    private Value expanded(Operation operation, Value update, int rank) {
        List<Boolean> squeezed = flags(operation, "squeeze_mask", rank);
        int[] axes = IntStream.range(0, rank).filter(squeezed::get).toArray();
        return axes.length == 0 ? update : to.expandDims(update.name() + "_wide", update, axes);
    }

    private void requireSteps(Operation operation) {
        boolean steps = operation
                .input("stride")
                .flatMap(this::numbers)
                .map(values -> values.stream().anyMatch(step -> step != 1))
                .orElse(operation.input("stride").isPresent());
        if (steps) {
            throw new IllegalArgumentException(
                    "slice_update '" + operation.output().name() + "' has steps; before iOS 18 there is no form of it");
        }
    }

    private List<Boolean> flags(Operation operation, String parameter, int rank) {
        return operation
                .input(parameter)
                .flatMap(this::numbers)
                .map(values -> values.stream().map(value -> value != 0).toList())
                .orElse(Collections.nCopies(rank, false));
    }

    /** The begin of an axis, if it is known. */
    private Optional<List<Double>> begin(Operation operation, int axis) {
        if (flags(operation, "begin_mask", operation.output().type().rank()).get(axis)) {
            return Optional.of(List.of(0.0));
        }
        Value begin = operation.input("begin").orElseThrow();
        return numbers(begin)
                .map(values -> List.of(values.get(axis)))
                .or(() -> piece(begin, axis).flatMap(this::numbers));
    }

    private Value component(Operation operation, FunctionCopy copy, int axis, String name) {
        Value begin = operation.input("begin").orElseThrow();
        return piece(begin, axis)
                .map(copy::value)
                .orElseGet(() -> to.sliceByIndex(name + "_begin", copy.value(begin), List.of(axis), List.of(axis + 1)));
    }

    /** The value that became one number of a vector, if it was joined of single numbers. */
    private Optional<Value> piece(Value vector, int index) {
        Operation producer = producers.get(vector.name());
        if (producer == null || !producer.kind().equals("concat")) {
            return Optional.empty();
        }
        List<Value> pieces = producer.inputs().get("values");
        boolean single = pieces.stream().allMatch(value -> value.type().equals(TensorType.of(DType.INT32, 1)));
        return single ? Optional.of(pieces.get(index)) : Optional.empty();
    }

    private Optional<List<Double>> numbers(Value value) {
        Operation producer = producers.get(value.name());
        return producer != null && producer.constant().orElse(null) instanceof Literal.Numbers numbers
                ? Optional.of(new ArrayList<>(numbers.values()))
                : Optional.empty();
    }

    private static int normalised(double begin, int size) {
        return (int) (begin < 0 ? begin + size : begin);
    }
}
