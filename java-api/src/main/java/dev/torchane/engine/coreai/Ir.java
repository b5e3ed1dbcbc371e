package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The operations of one graph as text, in MLIR's generic form, each with all its types; what operations of Core AI there are, and what
 * they ask of their operands. Axes, sizes and permutations are constant tensors there; each stands in the text once.
 */
final class Ir {

    private static final String BROADCASTING = "decomposable.broadcasting_";

    private final StringBuilder body = new StringBuilder();
    private final Map<String, Ref> constants = new HashMap<>();
    private int next;

    String text() {
        return body.toString();
    }

    private Ref define(TensorType type) {
        return new Ref("%" + next++, type);
    }

    /** The constant of a type with these elements, row-major. */
    Ref constant(TensorType type, List<Double> values) {
        String value = IrTypes.dense(type, values) + " : " + IrTypes.tensor(type);
        return constants.computeIfAbsent(value, text -> {
            Ref result = define(type);
            line(result.name() + " = coreai.constant " + text);
            return result;
        });
    }

    Ref constant(TensorType type, double... values) {
        return constant(type, java.util.Arrays.stream(values).boxed().toList());
    }

    Ref scalar(DType dtype, double value) {
        return constant(TensorType.of(dtype), value);
    }

    /** A constant whose bytes are item {@code index} of what the text comes with. */
    Ref data(TensorType type, int index) {
        return constants.computeIfAbsent("data " + index, _ -> {
            Ref result = define(type);
            String zero = type.dtype() == DType.BOOL ? "false" : type.dtype().isFloat() ? "0.0" : "0";
            line("%s = \"coreai.constant\"() <{value = dense<%s> : %s}> {data = %d : i64} : () -> %s"
                    .formatted(result.name(), zero, IrTypes.tensor(type), index, IrTypes.tensor(type)));
            return result;
        });
    }

    private Ref vector(DType dtype, List<Integer> values) {
        return constant(
                TensorType.of(dtype, values.size()),
                values.stream().map(Integer::doubleValue).toList());
    }

    /** Sizes, counts, permutations. */
    Ref sizes(List<Integer> values) {
        return vector(DType.UINT32, values);
    }

    /** Axes and positions, which may be negative. */
    Ref positions(List<Integer> values) {
        return vector(DType.INT32, values);
    }

    Ref op(String name, TensorType type, Ref... operands) {
        return op(name, "", type, operands);
    }

    Ref op(String name, String attributes, TensorType type, Ref... operands) {
        return ops(name, attributes, List.of(type), operands).getFirst();
    }

    /** Adds an operation. */
    List<Ref> ops(String name, String attributes, List<TensorType> types, Ref... operands) {
        List<Ref> results = types.stream().map(this::define).toList();
        String list = java.util.Arrays.stream(operands).map(Ref::name).collect(Collectors.joining(", "));
        String given = java.util.Arrays.stream(operands)
                .map(operand -> IrTypes.tensor(operand.type()))
                .collect(Collectors.joining(", "));
        String made = types.stream().map(IrTypes::tensor).collect(Collectors.joining(", "));
        line("%s = \"coreai.%s\"(%s)%s : (%s) -> %s"
                .formatted(
                        results.stream().map(Ref::name).collect(Collectors.joining(", ")),
                        name,
                        list,
                        attributes.isEmpty() ? "" : " " + attributes,
                        given,
                        types.size() == 1 ? made : "(" + made + ")"));
        return results;
    }

    /** Adds a line as it is. */
    void line(String text) {
        body.append("    ").append(text).append('\n');
    }

    // Elements

    Ref unary(String name, Ref x) {
        return op(name, x.type(), x);
    }

    /** An operation of two operands that broadcast. */
    Ref binary(String name, Ref x, Ref y) {
        return op(BROADCASTING + name, new TensorType(x.dtype(), broadcast(x.shape(), y.shape())), x, y);
    }

    Ref binary(String name, Ref x, double y) {
        return binary(name, x, scalar(x.dtype(), y));
    }

    Ref add(Ref x, Ref y) {
        return binary("add", x, y);
    }

    Ref sub(Ref x, Ref y) {
        return binary("sub", x, y);
    }

    Ref mul(Ref x, Ref y) {
        return binary("mul", x, y);
    }

    /** {@code equal}, {@code not_equal} or {@code greater}. */
    Ref compare(String name, Ref x, Ref y) {
        return op(BROADCASTING + name, new TensorType(DType.BOOL, broadcast(x.shape(), y.shape())), x, y);
    }

    Ref greaterOrEqual(Ref x, Ref y) {
        return binary("or", compare("greater", x, y), compare("equal", x, y));
    }

    Ref floor(Ref x) {
        return binary("floor_divide", x, 1);
    }

    Ref where(Ref condition, Ref a, Ref b) {
        List<Integer> shape = broadcast(condition.shape(), broadcast(a.shape(), b.shape()));
        return op(BROADCASTING + "where", new TensorType(a.dtype(), shape), condition, a, b);
    }

    Ref cast(Ref x, DType dtype) {
        return x.dtype() == dtype ? x : op("cast", x.type().withDtype(dtype), x);
    }

    // Axes

    Ref reshape(Ref x, List<Integer> shape) {
        return x.shape().equals(shape) ? x : op("reshape", x.type().withShape(shape), x, sizes(shape));
    }

    Ref transpose(Ref x, List<Integer> perm) {
        if (perm.equals(range(x.rank()))) {
            return x;
        }
        return op(
                "transpose",
                x.type().withShape(perm.stream().map(x.shape()::get).toList()),
                x,
                sizes(perm));
    }

    /** Swaps the last two axes. */
    Ref swapped(Ref x) {
        List<Integer> perm = new ArrayList<>(range(x.rank()));
        Collections.swap(perm, x.rank() - 2, x.rank() - 1);
        return transpose(x, perm);
    }

    Ref broadcastTo(Ref x, List<Integer> shape) {
        return x.shape().equals(shape) ? x : op("broadcast_to", x.type().withShape(shape), x, sizes(shape));
    }

    /** A reduction, which keeps its axes as axes of size 1. */
    Ref reduce(String name, Ref x, List<Integer> axes) {
        List<Integer> shape = new ArrayList<>(x.shape());
        axes.forEach(axis -> shape.set(axis, 1));
        return axes.isEmpty() ? x : op("reduce_" + name, x.type().withShape(shape), x, positions(axes));
    }

    Ref slice(Ref x, List<Integer> begin, List<Integer> end) {
        List<Integer> shape = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            shape.add(end.get(axis) - begin.get(axis));
        }
        if (shape.equals(x.shape())) {
            return x;
        }
        Ref ones = positions(Collections.nCopies(x.rank(), 1));
        return op("slice", x.type().withShape(shape), x, positions(begin), positions(end), ones);
    }

    Ref concat(int axis, List<Ref> parts) {
        List<Integer> shape = new ArrayList<>(parts.getFirst().shape());
        shape.set(axis, parts.stream().mapToInt(part -> part.type().axis(axis)).sum());
        List<Ref> operands = new ArrayList<>(List.of(scalar(DType.INT32, axis)));
        operands.addAll(parts);
        return op("concat", parts.getFirst().type().withShape(shape), operands.toArray(Ref[]::new));
    }

    /** Pads each axis; {@code pad} has two sizes for each. */
    Ref pad(Ref x, List<Integer> pad, String mode, double value) {
        List<Integer> shape = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            shape.add(x.type().axis(axis) + pad.get(2 * axis) + pad.get(2 * axis + 1));
        }
        if (shape.equals(x.shape())) {
            return x;
        }
        String attributes = "{padding_mode = #coreai.padding_mode<" + mode + ">}";
        return op("pad", attributes, x.type().withShape(shape), x, sizes(pad), scalar(x.dtype(), value));
    }

    /** Product of matrices over broadcast leading axes. */
    Ref matmul(Ref x, Ref y) {
        List<Integer> shape = new ArrayList<>(
                broadcast(x.shape().subList(0, x.rank() - 2), y.shape().subList(0, y.rank() - 2)));
        shape.add(x.type().axis(-2));
        shape.add(y.type().axis(-1));
        return op(BROADCASTING + "batch_matmul", x.type().withShape(shape), x, y);
    }

    /** The positions 0, 1, … along one axis of a rank, all others of size 1. */
    Ref iota(int size, int axis, int rank) {
        List<Integer> shape = new ArrayList<>(Collections.nCopies(rank, 1));
        shape.set(axis, size);
        return reshape(positions(range(size)), shape);
    }

    static List<Integer> range(int size) {
        return IntStream.range(0, size).boxed().toList();
    }

    static List<Integer> broadcast(List<Integer> first, List<Integer> second) {
        int rank = Math.max(first.size(), second.size());
        List<Integer> shape = new ArrayList<>(rank);
        for (int i = rank; i > 0; i--) {
            int a = i > first.size() ? 1 : first.get(first.size() - i);
            int b = i > second.size() ? 1 : second.get(second.size() - i);
            shape.add(a == 1 ? b : a);
        }
        return shape;
    }
}
