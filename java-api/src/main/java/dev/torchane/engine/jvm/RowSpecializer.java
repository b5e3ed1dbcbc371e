package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Rewrites a function over a window of rows into the same function over some of them. The rows' axis is followed from the
 * inputs through every operation; shapes in the program shrink with it; an update that has the axis goes to its old place
 * plus the first row, which is a new input.
 *
 * <pre>
 * Given:   f(emb [1, 8, H], step [1], state s [1, M, H])        Result for 2 rows:
 *            e = reshape(emb, [1, 8, 2, H/2])                     f(emb [1, 2, H], step [1], jvm_row_start [1], state s)
 *            …                                                      e = reshape(emb, [1, 2, 2, H/2])
 *            begin = concat(0, step, 0)                             …
 *            a = read_state(s)                                      begin = concat(0, step, 0)
 *            b = slice_update(a, u [1, 8, H], begin, end)           rows = concat(0, jvm_row_start, 0)
 *            write_state(s, b)                                      moved = add(begin, rows)
 *                                                                   ends = add(moved, [1, 2, H])
 *                                                                   a = read_state(s)
 *                                                                   b = slice_update(a, u [1, 2, H], moved, ends)
 *                                                                   write_state(s, b)
 * </pre>
 *
 * A sum over the rows' axis is cut as well when one factor is a pick: an input whose elements are rows (all its other axes
 * have size 1), such as the one-hot row pick. The caller's range then holds every row that the pick does not weigh zero. A
 * function in which the axis cannot be followed has no specialised form, and its callers compute all rows.
 */
final class RowSpecializer {

    /** Name of the added input: the first row, int32 [1]. */
    static final String ROW_START = "jvm_row_start";

    /**
     * A function over some rows.
     *
     * @param outputAxes axis of the rows in the outputs that have one
     */
    record Result(Function function, Map<String, Integer> outputAxes) {}

    /** The axis cannot be followed through an operation. */
    static final class NotFollowed extends Exception {
        NotFollowed(String message) {
            super(message);
        }
    }

    private final Function function;
    private final int rows;
    private final int count;
    private final Constants constants;
    /** Axis of the rows in the values that have one. */
    private final Map<String, Integer> axes = new HashMap<>();
    /** Values that are zero in rows outside the range. */
    private final Set<String> picks = new HashSet<>();

    private final Map<String, Value> rewritten = new HashMap<>();
    private final List<Operation> operations = new ArrayList<>();
    private final Value rowStart = new Value(ROW_START, TensorType.of(DType.INT32, 1));
    private int fresh;

    private RowSpecializer(Function function, int rows, int count) {
        this.function = function;
        this.rows = rows;
        this.count = count;
        this.constants = new Constants(function);
    }

    /** Rows of the window: the common size of the inputs along their row axes, if there is one. */
    static OptionalInt rows(Function function, Map<String, Integer> rowAxes) {
        Set<Integer> sizes = new HashSet<>();
        for (Value input : function.tensors()) {
            Integer axis = rowAxes.get(input.name());
            if (axis == null) {
                continue;
            }
            if (axis >= input.type().rank()) {
                throw new TorchAneException("the rows of input '" + input.name() + "' of function '" + function.name()
                        + "' are said to lie along axis " + axis + ", but its type is " + input.type()
                        + ": build the model again");
            }
            sizes.add(input.type().axis(axis));
        }
        return sizes.size() == 1 ? OptionalInt.of(sizes.iterator().next()) : OptionalInt.empty();
    }

    /** The function over {@code count} rows; empty when the axis cannot be followed. */
    static Optional<Result> apply(Function function, Map<String, Integer> rowAxes, int count) {
        OptionalInt rows = rows(function, rowAxes);
        if (rows.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new RowSpecializer(function, rows.getAsInt(), count).specialize(rowAxes));
        } catch (NotFollowed e) {
            System.getLogger(RowSpecializer.class.getName())
                    .log(System.Logger.Level.DEBUG, "all rows are computed: {0}", e.getMessage());
            return Optional.empty();
        }
    }

    private Result specialize(Map<String, Integer> rowAxes) throws NotFollowed {
        List<Value> inputs = new ArrayList<>();
        for (Value input : function.inputs()) {
            Integer axis = input.state() ? null : rowAxes.get(input.name());
            if (axis == null) {
                inputs.add(input);
                rewritten.put(input.name(), input);
                continue;
            }
            if (input.type().elements() == rows) {
                picks.add(input.name());
            }
            inputs.add(define(input, OptionalInt.of(axis)));
        }
        inputs.add(rowStart);
        for (Operation operation : function.operations()) {
            rewrite(operation);
        }
        Map<String, Integer> outputAxes = new HashMap<>();
        List<Value> outputs = new ArrayList<>();
        for (Value output : function.outputs()) {
            if (axes.containsKey(output.name())) {
                outputAxes.put(output.name(), axes.get(output.name()));
            }
            outputs.add(now(output));
        }
        return new Result(
                new Function(function.name(), function.opset(), inputs, operations, outputs), Map.copyOf(outputAxes));
    }

    /** Records the axis of a value and its type over fewer rows. */
    private Value define(Value value, OptionalInt axis) {
        Value result = value;
        if (axis.isPresent()) {
            List<Integer> shape = new ArrayList<>(value.type().shape());
            shape.set(axis.getAsInt(), count);
            axes.put(value.name(), axis.getAsInt());
            result = new Value(value.name(), value.type().withShape(shape), value.state());
        }
        rewritten.put(value.name(), result);
        return result;
    }

    private Value now(Value value) {
        return rewritten.getOrDefault(value.name(), value);
    }

    /** The rows' axis of an operand. */
    private OptionalInt axis(Operation operation, String parameter) {
        return operation.input(parameter).map(this::axis).orElse(OptionalInt.empty());
    }

    private OptionalInt axis(Value value) {
        Integer axis = axes.get(value.name());
        return axis == null ? OptionalInt.empty() : OptionalInt.of(axis);
    }

    private void rewrite(Operation operation) throws NotFollowed {
        boolean any = operation.inputs().values().stream()
                .flatMap(List::stream)
                .anyMatch(value -> axes.containsKey(value.name()));
        if (!any) {
            // Values of a state keep their type; so does everything computed from constants.
            emit(operation, operation.inputs(), OptionalInt.empty());
            return;
        }
        RowRules.Rule rule = RowRules.rule(operation.kind());
        if (rule == null) {
            throw new NotFollowed("operation " + operation.kind());
        }
        rule.rewrite(new Step(operation));
    }

    private void emit(Operation operation, Map<String, List<Value>> inputs, OptionalInt axis) {
        Map<String, List<Value>> operands = new LinkedHashMap<>();
        inputs.forEach((parameter, values) ->
                operands.put(parameter, values.stream().map(this::now).toList()));
        List<Value> outputs =
                operation.outputs().stream().map(value -> define(value, axis)).toList();
        operations.add(new Operation(operation.kind(), operands, outputs, operation.attributes()));
    }

    private Value constant(Literal literal) {
        Value value = new Value("jvm_rows_" + fresh++, literal.type());
        operations.add(new Operation("const", Map.of(), List.of(value), Map.of("val", literal)));
        return value;
    }

    private Value computed(String kind, TensorType type, Map<String, List<Value>> inputs) {
        Value value = new Value("jvm_rows_" + fresh++, type);
        operations.add(new Operation(kind, inputs, List.of(value), Map.of()));
        return value;
    }

    /** One operation with at least one operand that has the rows' axis, while it is rewritten. */
    final class Step {

        private final Operation operation;
        private final Map<String, List<Value>> inputs;

        Step(Operation operation) {
            this.operation = operation;
            this.inputs = new LinkedHashMap<>(operation.inputs());
        }

        Operation operation() {
            return operation;
        }

        Constants constants() {
            return constants;
        }

        int rows() {
            return rows;
        }

        /** Type of an operand over all rows. */
        TensorType type(String parameter) {
            return operation.input(parameter).orElseThrow().type();
        }

        OptionalInt axis(String parameter) {
            return RowSpecializer.this.axis(operation, parameter);
        }

        OptionalInt axis(Value value) {
            return RowSpecializer.this.axis(value);
        }

        boolean isPick(String parameter) {
            return operation
                    .input(parameter)
                    .filter(value -> picks.contains(value.name()))
                    .isPresent();
        }

        /** Says that the results are zero in rows outside the range. */
        void picked() {
            operation.outputs().forEach(value -> picks.add(value.name()));
        }

        /** Replaces a constant operand by one with another number at an index. */
        void replace(String parameter, int index, int number) throws NotFollowed {
            int[] old = constants.ints(operation, parameter).orElseThrow(() -> fail("a computed " + parameter));
            List<Integer> values = new ArrayList<>();
            for (int value : old) {
                values.add(value);
            }
            values.set(index, number);
            inputs.put(parameter, List.of(constant(Literal.int32s(values))));
        }

        int count() {
            return count;
        }

        /** Moves {@code begin} of a slice_update by the first row along an axis, and {@code end} with it. */
        void move(int axis, TensorType update) {
            int rank = update.rank();
            TensorType type = TensorType.of(DType.INT32, rank);
            List<Value> parts = new ArrayList<>();
            Value zero = constant(Literal.int32s(List.of(0)));
            for (int a = 0; a < rank; a++) {
                parts.add(a == axis ? rowStart : zero);
            }
            Value first = constant(Literal.int32(0));
            Value no = constant(new Literal.Bool(false));
            Value start = computed(
                    "concat", type, Map.of("values", parts, "axis", List.of(first), "interleave", List.of(no)));
            Value begin = now(operation.input("begin").orElseThrow());
            Value moved = computed("add", type, Map.of("x", List.of(begin), "y", List.of(start)));
            List<Integer> shape = new ArrayList<>(update.shape());
            shape.set(axis, count);
            Value sizes = constant(Literal.int32s(shape));
            inputs.put("begin", List.of(moved));
            inputs.put("end", List.of(computed("add", type, Map.of("x", List.of(moved), "y", List.of(sizes)))));
        }

        /** Ends the rewrite: the results have the rows along an axis, or not at all. */
        void result(OptionalInt axis) {
            emit(operation, inputs, axis);
        }

        NotFollowed fail(String reason) {
            return new NotFollowed("operation " + operation.kind() + " '"
                    + (operation.outputs().isEmpty() ? "" : operation.output().name()) + "': " + reason);
        }
    }
}
