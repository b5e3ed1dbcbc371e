package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.BundledProgram;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A function of one operation whose tensors come in as inputs, and what the engine of {@link Engine#defaultName} answers. */
final class OneOperation {

    final TestWeights weights = new TestWeights();
    final FunctionBuilder f;
    private final ProgramBuilder program = ProgramBuilder.create();
    private final Map<String, Tensor> inputs = new LinkedHashMap<>();
    private final Map<String, Operand> operands = new LinkedHashMap<>();
    private final String kind;
    private EngineOptions options = EngineOptions.defaults().withThreads(2).withVector(false);

    private OneOperation(String kind) {
        this.kind = kind;
        this.f = program.function("main");
    }

    static OneOperation of(String kind) {
        return new OneOperation(kind);
    }

    /** A tensor of fp32 numbers. */
    OneOperation in(String parameter, int[] shape, float... values) {
        return in(
                parameter,
                new TensorType(
                        DType.FP32, java.util.Arrays.stream(shape).boxed().toList()),
                values);
    }

    OneOperation in(String parameter, TensorType type, float... values) {
        Value value = f.input("in_" + parameter, type);
        inputs.put("in_" + parameter, Tensor.of(type, values));
        operands.put(parameter, value);
        return this;
    }

    OneOperation with(String parameter, Operand operand) {
        operands.put(parameter, operand);
        return this;
    }

    OneOperation with(String parameter, int value) {
        return with(parameter, Literal.int32(value));
    }

    OneOperation ints(String parameter, int... values) {
        return with(parameter, Literal.int32s(values));
    }

    OneOperation number(String parameter, double value) {
        return with(parameter, Literal.scalar(DType.FP32, value));
    }

    OneOperation flag(String parameter, boolean value) {
        return with(parameter, Literal.bool(value));
    }

    OneOperation text(String parameter, String value) {
        return with(parameter, Literal.text(value));
    }

    /** Squares a tensor first and gives the square as an operand. */
    OneOperation square(String from, String parameter) {
        Operand x = operands.remove(from);
        return with(parameter, f.mul("square", x, x));
    }

    OneOperation declared() {
        options = options.withNumerics(Numerics.DECLARED);
        return this;
    }

    /** On an engine with other options than plain Java kernels and two threads. */
    OneOperation on(EngineOptions others) {
        options = others;
        return this;
    }

    /** Values of several tensors that are joined as one operand. */
    OneOperation many(String parameter, String... others) {
        List<Operand> values =
                java.util.Arrays.stream(others).map(operands::remove).toList();
        operands.put(parameter, Operand.many(values));
        return this;
    }

    List<Tensor> run() {
        List<Value> results = f.operation(kind, "y", operands);
        f.done(results);
        String engine = Engine.defaultName();
        if (!engine.equals("jvm")) {
            return BundledProgram.run(program.build(), weights::bytes, engine, inputs);
        }
        try (LoadedProgram loaded = JvmEngine.load(program.build(), Map.of(), weights, options);
                State state = loaded.function("main").newState()) {
            Map<String, Tensor> outputs = loaded.function("main").run(inputs, state);
            return results.stream().map(value -> outputs.get(value.name())).toList();
        }
    }

    /** Runs and compares the only result. */
    void gives(int[] shape, double... expected) {
        check(run().getFirst(), shape, expected);
    }

    static void check(Tensor found, int[] shape, double... expected) {
        assertEquals(
                java.util.Arrays.stream(shape).boxed().toList(), found.type().shape(), "shape");
        assertEquals(expected.length, found.type().elements(), "elements");
        for (int i = 0; i < expected.length; i++) {
            double tolerance = 2e-6 * Math.max(1, Math.abs(expected[i]));
            assertEquals(expected[i], found.get(i), tolerance, "element " + i);
        }
    }
}
