package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.Operation;
import dev.torchane.program.Operations;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Arrays;
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
        requireSteps(operation);
        String name = operation.output().name();
        Value x = copy.value(operation.input("x").orElseThrow());
        List<Integer> shape = x.type().shape();
        Value spread = expanded(operation, copy.value(operation.input("update").orElseThrow()), shape.size());
        List<Value> masks = new ArrayList<>();
        for (int axis = 0; axis < shape.size(); axis++) {
            int size = shape.get(axis);
            int count = spread.type().axis(axis);
            if (count < size) { // an update as large as the axis begins at 0
                String at = name + "_axis" + axis;
                Value columns = to.constant(Literal.int32s(Operations.range(0, size)));
                Value relative = to.sub(at + "_relative", columns, begin(operation, copy, axis, at));
                int[] beside = new int[shape.size()];
                Arrays.fill(beside, 1);
                beside[axis] = size;
                masks.add(to.reshape(at + "_mask", inside(at, relative, count), beside));
                spread = to.gather(at + "_spread", spread, clipped(at, relative, count), axis);
            }
        }
        Value repeated = spread;
        return masks.stream()
                .reduce((one, other) -> to.binary("logical_and", name + "_inside", one, other))
                .map(mask -> to.select(name, mask, repeated, x))
                .orElseGet(() -> to.unary("identity", name, repeated));
    }

    private Value inside(String name, Value relative, int count) {
        Value low = to.binary("greater_equal", name + "_from", relative, Literal.int32(0));
        Value high = to.binary("less", name + "_to", relative, Literal.int32(count));
        return to.binary("logical_and", name + "_open", low, high);
    }

    private Value clipped(String name, Value relative, int count) {
        Value low = to.binary("maximum", name + "_first", relative, Literal.int32(0));
        return to.binary("minimum", name + "_last", low, Literal.int32(count - 1));
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

    /** Where an update begins on an axis: a constant where that is known, or one number of what is computed. */
    private Operand begin(Operation operation, FunctionCopy copy, int axis, String name) {
        TensorType x = operation.output().type();
        if (flags(operation, "begin_mask", x.rank()).get(axis)) {
            return Literal.int32s(0);
        }
        Value begin = operation.input("begin").orElseThrow();
        Optional<Integer> known = numbers(begin)
                .map(values -> values.get(axis))
                .or(() -> piece(begin, axis).flatMap(this::numbers).map(List::getFirst))
                .map(Double::intValue);
        if (known.isPresent()) {
            return Literal.int32s(known.get() < 0 ? known.get() + x.axis(axis) : known.get());
        }
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
                ? Optional.of(numbers.values())
                : Optional.empty();
    }
}
