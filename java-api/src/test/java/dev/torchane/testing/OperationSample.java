package dev.torchane.testing;

import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** One use of an operation: tensors that it computes with, and the constants that say how. */
public final class OperationSample {

    private final String name;
    private final String kind;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final Map<String, List<String>> joined = new LinkedHashMap<>();
    private final Map<String, Literal> constants = new LinkedHashMap<>();
    private final Random random;

    private OperationSample(String name, String kind) {
        this.name = name;
        this.kind = kind;
        this.random = new Random(name.hashCode());
    }

    /** A sample called as its operation. */
    static OperationSample of(String kind) {
        return new OperationSample(kind, kind);
    }

    /** A further sample of an operation. */
    static OperationSample of(String kind, String variant) {
        return new OperationSample(kind + "_" + variant, kind);
    }

    /** A tensor of random fp32 numbers around 0. */
    OperationSample in(String parameter, int... shape) {
        return drawn(parameter, shape, 1, 0);
    }

    /** A tensor of random fp32 numbers of at least 0.1. */
    OperationSample positive(String parameter, int... shape) {
        Tensor tensor = Tensor.allocate(TensorType.of(DType.FP32, shape));
        for (int i = 0; i < tensor.type().elements(); i++) {
            tensor.set(i, 0.1f + 2 * random.nextFloat());
        }
        tensors.put(parameter, tensor);
        return this;
    }

    /** A tensor of random fp32 numbers between −0.9 and 0.9. */
    OperationSample inner(String parameter, int... shape) {
        Tensor tensor = Tensor.allocate(TensorType.of(DType.FP32, shape));
        for (int i = 0; i < tensor.type().elements(); i++) {
            tensor.set(i, 1.8f * random.nextFloat() - 0.9f);
        }
        tensors.put(parameter, tensor);
        return this;
    }

    private OperationSample drawn(String parameter, int[] shape, double spread, double middle) {
        Tensor tensor = Tensor.allocate(TensorType.of(DType.FP32, shape));
        for (int i = 0; i < tensor.type().elements(); i++) {
            tensor.set(i, (float) (middle + spread * random.nextGaussian()));
        }
        tensors.put(parameter, tensor);
        return this;
    }

    /** A tensor of given numbers. */
    OperationSample of(DType dtype, String parameter, int[] shape, float... values) {
        tensors.put(parameter, Tensor.of(TensorType.of(dtype, shape), values));
        return this;
    }

    /** Random truth values. */
    OperationSample truth(String parameter, int... shape) {
        int size = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = random.nextBoolean() ? 1 : 0;
        }
        return of(DType.BOOL, parameter, shape, values);
    }

    /** Joins tensors as the values of one parameter. */
    OperationSample many(String parameter, String... members) {
        joined.put(parameter, List.of(members));
        return this;
    }

    OperationSample with(String parameter, Literal literal) {
        constants.put(parameter, literal);
        return this;
    }

    OperationSample with(String parameter, int value) {
        return with(parameter, Literal.int32(value));
    }

    OperationSample ints(String parameter, int... values) {
        return with(parameter, Literal.int32s(values));
    }

    OperationSample number(String parameter, double value) {
        return with(parameter, Literal.scalar(DType.FP32, value));
    }

    OperationSample flag(String parameter, boolean value) {
        return with(parameter, Literal.bool(value));
    }

    OperationSample text(String parameter, String value) {
        return with(parameter, Literal.text(value));
    }

    /** Random constant numbers of a type: fp32 of the size of a layer's weights, or integers that it holds. */
    OperationSample weights(String parameter, DType dtype, int... shape) {
        TensorType type = TensorType.of(dtype, shape);
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < type.elements(); i++) {
            int range = 1 << Math.min(7, dtype.bits());
            double number = dtype.isFloat()
                    ? 0.3 * random.nextGaussian()
                    : random.nextInt(range) - (dtype.mil().startsWith("u") ? 0 : range / 2);
            values.add(number);
        }
        return with(parameter, new Literal.Numbers(type, values));
    }

    /** Random constant numbers of at least 0.1. */
    OperationSample positiveWeights(String parameter, int... shape) {
        TensorType type = TensorType.of(DType.FP32, shape);
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < type.elements(); i++) {
            values.add(0.1 + random.nextDouble());
        }
        return with(parameter, new Literal.Numbers(type, values));
    }

    /** Name of the sample. */
    public String name() {
        return name;
    }

    /** The operation. */
    public String kind() {
        return kind;
    }

    /** Whether it computes with fp32 that could be fp16. */
    public boolean hasFloats() {
        return !kind.equals("constexpr_cast")
                && Stream.concat(
                                tensors.values().stream().map(Tensor::type),
                                constants.values().stream().map(Literal::type))
                        .anyMatch(type -> type.dtype() == DType.FP32);
    }

    /** The same with fp16 for fp32. */
    public OperationSample half() {
        OperationSample half = new OperationSample(name + "_fp16", kind);
        tensors.forEach((parameter, tensor) -> half.tensors.put(parameter, half(tensor)));
        constants.forEach((parameter, literal) -> half.constants.put(parameter, half(literal)));
        half.joined.putAll(joined);
        return half;
    }

    private static Tensor half(Tensor tensor) {
        return tensor.type().dtype() == DType.FP32
                ? Tensor.of(tensor.type().withDtype(DType.FP16), tensor.toFloats())
                : tensor;
    }

    private static Literal half(Literal literal) {
        return literal instanceof Literal.Numbers numbers && numbers.type().dtype() == DType.FP32
                ? new Literal.Numbers(numbers.type().withDtype(DType.FP16), numbers.values())
                : literal;
    }

    /** What a call of {@link #function} is given. */
    public Map<String, Tensor> inputs() {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        tensors.forEach((parameter, tensor) -> inputs.put("in_" + parameter, tensor));
        return inputs;
    }

    /** Begins and ends a function of this name whose tensors are inputs; its results are {@code y0}, {@code y1}, …. */
    public Function function(ProgramBuilder program) {
        return write(program.function(name), false);
    }

    /** The same with every tensor as a constant, in a function {@code main}. */
    public Function constant(ProgramBuilder program) {
        return write(program.function("main"), true);
    }

    private Function write(FunctionBuilder f, boolean constant) {
        Map<String, Operand> operands = new LinkedHashMap<>(constants);
        tensors.forEach((parameter, tensor) -> operands.put(
                parameter,
                constant
                        ? f.constant("const_" + parameter, literal(tensor))
                        : f.input("in_" + parameter, tensor.type())));
        joined.forEach((parameter, members) -> operands.put(
                parameter, Operand.many(members.stream().map(operands::remove).toList())));
        List<Value> results = f.operation(kind, "y", operands);
        Map<String, Value> outputs = new LinkedHashMap<>();
        IntStream.range(0, results.size()).forEach(i -> outputs.put("y" + i, results.get(i)));
        return f.done(outputs);
    }

    private static Literal literal(Tensor tensor) {
        List<Double> values = new ArrayList<>();
        for (float value : tensor.toFloats()) {
            values.add((double) value);
        }
        return new Literal.Numbers(tensor.type(), values);
    }

    @Override
    public String toString() {
        return name;
    }
}
