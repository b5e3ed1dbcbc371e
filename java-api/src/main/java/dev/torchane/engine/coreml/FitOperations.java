package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.Operation;
import dev.torchane.program.OperationTable;
import dev.torchane.program.Parameter;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Operations are given what Core ML wants to be given: every default written out, as coremltools does; constants where it takes
 * nothing else; element types that its operations have.
 *
 * <pre>
 * Given   softmax(x)                                       Result  softmax(x, axis = -1)
 * Given   linear(x, weight), weight computed               Result  matmul(x, weight, transpose_y = true)
 * Given   linear(x, weight), x of four axes or more         Result  the same
 * Given   layer_norm(x, gamma), gamma computed             Result  mul(layer_norm(x), gamma)
 * Given   select(cond, a, b), a and b smaller than cond     Result  select(cond, a, tile(b))
 * Given   round(x) of int32                                Result  identity(x)
 * Given   mul(x, y) of uint8                               Result  cast(mul(cast(x, "int32"), cast(y, "int32")), "uint8")
 * </pre>
 */
final class FitOperations implements FunctionCopy.Change {

    /** Axes of what Core ML's {@code linear} takes. */
    private static final int MOST_AXES = 3;

    /** What leaves integers as they are; Core ML has them for floats. */
    private static final Set<String> ROUNDING = Set.of("ceil", "floor", "round");

    /** Parameters that Core ML has as unsigned numbers. */
    private static final Set<String> UNSIGNED = Set.of("downscale_factor", "resized_dims");

    /** Operations that have no other form in older operation sets. */
    private static final Map<String, CoreMlOpset> SINCE =
            Map.of("resize", CoreMlOpset.IOS17, "constexpr_sparse_to_dense", CoreMlOpset.IOS18);

    /** Parameters that iOS 17 brought, for which there was one value before. */
    private static final Map<String, String> SINCE_IOS17 = Map.of(
            "validate_indices", "false",
            "batch_dims", "0",
            "output_dtype", "int32",
            "output_indices_dtype", "int32");

    private final CoreMlOpset opset;
    private final PackageWeights weights;
    private final FunctionBuilder to;
    private final Set<String> constants = new HashSet<>();
    private final Map<String, Literal> literals = new HashMap<>();

    FitOperations(CoreMlOpset opset, PackageWeights weights, FunctionBuilder to) {
        this.opset = opset;
        this.weights = weights;
        this.to = to;
    }

    @Override
    public Optional<List<Value>> of(Operation operation, FunctionCopy copy) {
        CoreMlOpset since = SINCE.getOrDefault(operation.kind(), CoreMlOpset.IOS16);
        if (!opset.atLeast(since)) {
            throw new IllegalArgumentException(
                    operation.kind() + " '" + name(operation) + "' needs " + since + ", the package is for " + opset);
        }
        if (operation.constant().isPresent() || operation.kind().startsWith("constexpr_")) {
            constants.add(operation.output().name());
            operation
                    .constant()
                    .ifPresent(each -> literals.put(operation.output().name(), each));
            return Optional.empty();
        }
        String kind = operation.kind();
        if (kind.equals("linear")) {
            return Optional.of(List.of(linear(operation, copy)));
        }
        if (kind.equals("layer_norm") && (computed(operation, "gamma") || computed(operation, "beta"))) {
            return Optional.of(List.of(norm(operation, copy)));
        }
        if (ROUNDING.contains(kind) && !operation.output().type().dtype().isFloat()) {
            Value x = copy.value(operation.input("x").orElseThrow());
            return Optional.of(List.of(to.unary("identity", operation.output().name(), x)));
        }
        return Optional.of(typed(operation, copy));
    }

    private boolean computed(Operation operation, String parameter) {
        return operation
                .input(parameter)
                .filter(each -> !constants.contains(each.name()))
                .isPresent();
    }

    /** A computed weight or bias is a product or a sum of its own; a bias that is left out is zeros. */
    private Value linear(Operation operation, FunctionCopy copy) {
        Value x = copy.value(operation.input("x").orElseThrow());
        Value weight = copy.value(operation.input("weight").orElseThrow());
        Optional<Value> bias = operation.input("bias").map(copy::value);
        String name = operation.output().name();
        boolean sum = computed(operation, "bias");
        if (computed(operation, "weight") || x.type().rank() > MOST_AXES) {
            Value product = to.matmul(name, x, weight, false, true);
            return bias.map(each -> to.add(name, product, each)).orElse(product);
        }
        Operand given = bias.filter(each -> !sum)
                .map(each -> (Operand) each)
                .orElseGet(() -> zeros(x.type().dtype(), weight.type().axis(0)));
        Value product = to.apply("linear", name, Map.of("x", x, "weight", weight, "bias", given));
        return sum ? to.add(name, product, bias.orElseThrow()) : product;
    }

    private Literal zeros(DType dtype, int size) {
        TensorType type = TensorType.of(dtype, size);
        return dtype == DType.FP32 || dtype == DType.FP16
                ? weights.made(
                        "zeros",
                        type,
                        sink -> sink.accept(MemorySegment.ofArray(new byte[Math.toIntExact(type.bytes())])))
                : new Literal.Numbers(type, Collections.nCopies(size, 0.0));
    }

    private Value norm(Operation operation, FunctionCopy copy) {
        Map<String, Operand> operands = operands(operation, copy);
        Operand gamma = operands.remove("gamma");
        Operand beta = operands.remove("beta");
        String name = operation.output().name();
        Value result = to.apply("layer_norm", name, operands);
        List<Integer> shape = spread(operation, result.type());
        if (gamma != null) {
            result = to.mul(
                    name,
                    result,
                    to.apply("reshape", name + "_gamma", Map.of("x", gamma, "shape", Literal.int32s(shape))));
        }
        if (beta != null) {
            result = to.add(
                    name,
                    result,
                    to.apply("reshape", name + "_beta", Map.of("x", beta, "shape", Literal.int32s(shape))));
        }
        return result;
    }

    /** The shape that weights of a norm have beside {@code x}: its sizes on the axes of the norm, 1 elsewhere. */
    private static List<Integer> spread(Operation operation, TensorType x) {
        Value weight =
                operation.input("gamma").or(() -> operation.input("beta")).orElseThrow();
        List<Integer> shape = new ArrayList<>(Collections.nCopies(x.rank(), 1));
        List<Integer> sizes = weight.type().shape();
        for (int axis = x.rank() - 1, i = sizes.size() - 1; i >= 0; axis--, i--) {
            if (x.axis(axis) != sizes.get(i)) {
                throw new IllegalArgumentException("layer_norm '"
                        + operation.output().name() + "' has a computed weight over axes that are not the last ones");
            }
            shape.set(axis, sizes.get(i));
        }
        return shape;
    }

    private List<Value> typed(Operation operation, FunctionCopy copy) {
        Map<String, Operand> operands = operands(operation, copy);
        operands.replaceAll((parameter, operand) ->
                UNSIGNED.contains(parameter) ? cast(literal(operation, parameter, operand), DType.UINT32) : operand);
        if (!opset.atLeast(CoreMlOpset.IOS17)) {
            SINCE_IOS17.forEach((parameter, only) -> withoutNewer(operation, operands, parameter, only));
        }
        if (operation.kind().equals("select")) {
            operands.put("b", asLarge(operation, operands));
        }
        Optional<DType> narrow = ElementTypes.unsupported(operation);
        if (narrow.isEmpty()) {
            return to.operation(operation.kind(), name(operation), operands);
        }
        DType wide = ElementTypes.instead(operation.kind());
        operands.replaceAll(
                (parameter, operand) -> ElementTypes.DATA.contains(parameter) ? cast(operand, wide) : operand);
        operands.computeIfPresent(
                "constant_val", (parameter, operand) -> cast(literal(operation, parameter, operand), wide));
        List<Value> results = to.operation(operation.kind(), name(operation), operands);
        List<Value> narrowed = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            DType declared = operation.outputs().get(i).type().dtype();
            Value result = results.get(i);
            narrowed.add(
                    result.type().dtype() == declared
                            ? result
                            : to.cast(result.name() + "_" + declared.mil(), result, declared));
        }
        return narrowed;
    }

    /** The number or text of an operand that has to be constant: given, or a default. */
    private Literal literal(Operation operation, String parameter, Operand operand) {
        return operand instanceof Literal literal
                ? literal
                : operation
                        .input(parameter)
                        .map(value -> literals.get(value.name()))
                        .orElseThrow(() -> new IllegalArgumentException(operation.kind() + " '" + name(operation)
                                + "' needs '" + parameter + "' written in the program"));
    }

    private static Literal cast(Literal literal, DType dtype) {
        return literal instanceof Literal.Numbers numbers
                ? new Literal.Numbers(numbers.type().withDtype(dtype), numbers.values())
                : literal;
    }

    /** The second choice of a {@code select}; repeated, where both are smaller than what is chosen for. */
    private Operand asLarge(Operation operation, Map<String, Operand> operands) {
        List<Integer> shape = operation.output().type().shape();
        Operand b = operands.get("b");
        if (!(operands.get("a") instanceof Value a && b instanceof Value small)
                || a.type().shape().equals(shape)
                || small.type().shape().equals(shape)) {
            return b;
        }
        List<Integer> sizes =
                new ArrayList<>(Collections.nCopies(shape.size() - small.type().rank(), 1));
        sizes.addAll(small.type().shape());
        Value aligned =
                to.apply("reshape", small.name() + "_aligned", Map.of("x", small, "shape", Literal.int32s(sizes)));
        List<Integer> reps = IntStream.range(0, shape.size())
                .mapToObj(axis -> shape.get(axis) / sizes.get(axis))
                .toList();
        return to.apply("tile", small.name() + "_repeated", Map.of("x", aligned, "reps", Literal.int32s(reps)));
    }

    private void withoutNewer(Operation operation, Map<String, Operand> operands, String parameter, String only) {
        Operand operand = operands.remove(parameter);
        Literal literal = operand == null ? null : literal(operation, parameter, operand);
        String found = switch (literal) {
            case null -> only;
            case Literal.Text(String text) -> text;
            case Literal.Bool(boolean truth) -> Boolean.toString(truth);
            case Literal.Numbers numbers ->
                Integer.toString(numbers.values().getFirst().intValue());
            default -> literal.toString();
        };
        if (!found.equals(only)) {
            throw new IllegalArgumentException(operation.kind() + " '" + name(operation) + "' has " + parameter + " = "
                    + found + "; before iOS 17 it is always " + only);
        }
    }

    private Operand cast(Operand operand, DType dtype) {
        return operand instanceof Value value && value.type().dtype() != dtype
                ? to.cast(value.name() + "_" + dtype.mil(), value, dtype)
                : operand;
    }

    private static String name(Operation operation) {
        return operation.outputs().isEmpty()
                ? ""
                : operation.attributes().get("name") instanceof Literal.Text(String text)
                        ? text
                        : operation.output().name();
    }

    /** The operands of an operation, and its parameters' defaults. */
    private static Map<String, Operand> operands(Operation operation, FunctionCopy copy) {
        Map<String, Operand> operands = new LinkedHashMap<>();
        DType dtype = operation
                .input("x")
                .map(x -> x.type().dtype())
                .filter(DType::isFloat)
                .orElse(DType.FP32);
        for (Parameter parameter : OperationTable.signature(operation.kind()).parameters()) {
            List<Value> given = operation.inputs().get(parameter.name());
            if (given != null) {
                List<Value> values = given.stream().map(copy::value).toList();
                operands.put(parameter.name(), parameter.variadic() ? Operand.many(values) : values.getFirst());
            } else {
                parameter
                        .defaultValue()
                        .or(() -> window(operation, parameter.name()))
                        .ifPresent(value -> operands.put(
                                parameter.name(), value.type().dtype().isFloat() ? cast(value, dtype) : value));
            }
        }
        return operands;
    }

    /** Steps of 1 and no padding, for what slides over pictures. */
    private static Optional<Literal> window(Operation operation, String parameter) {
        boolean slides = operation.kind().startsWith("conv") || operation.kind().endsWith("_pool");
        if (!slides) {
            return Optional.empty();
        }
        int axes = operation.output().type().rank() - 2;
        return switch (parameter) {
            case "strides", "dilations" ->
                Optional.of(Literal.int32s(IntStream.range(0, axes).map(i -> 1).toArray()));
            case "pad" -> Optional.of(Literal.int32s(new int[2 * axes]));
            default -> Optional.empty();
        };
    }
}
