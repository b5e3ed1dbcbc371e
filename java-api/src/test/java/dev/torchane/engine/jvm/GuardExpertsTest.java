package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Experts that no row has chosen are left out. */
class GuardExpertsTest {

    private static final int ROWS = 2;
    private static final int WIDTH = 4;
    private static final TensorType X = TensorType.of(DType.FP32, ROWS, WIDTH);
    private static final TensorType SHARE = TensorType.of(DType.FP32, ROWS, 1);

    private static Value only(FunctionBuilder f, String kind, String name, Map<String, Value> inputs) {
        return f.operation(kind, name, inputs).getFirst();
    }

    private static Value matrix(FunctionBuilder f, String name, double value) {
        TensorType type = TensorType.of(DType.FP32, WIDTH, WIDTH);
        return f.constant(name, new Literal.Numbers(type, Collections.nCopies(WIDTH * WIDTH, value)));
    }

    /** Each expert doubles after its gate: {@code sum over e of down_e(silu(gate_e(x)) * up_e(x)) * share_e}. */
    private static Function mixture(FunctionBuilder f, double... weights) {
        Value x = f.input("x", X);
        Value total = null;
        for (int e = 0; e < weights.length; e++) {
            Value gate = only(f, "linear", "gate" + e, Map.of("x", x, "weight", matrix(f, "wg" + e, weights[e])));
            Value up = only(f, "linear", "up" + e, Map.of("x", x, "weight", matrix(f, "wu" + e, weights[e])));
            Value open = only(f, "silu", "open" + e, Map.of("x", gate));
            Value both = only(f, "mul", "both" + e, Map.of("x", open, "y", up));
            Value down = only(f, "linear", "down" + e, Map.of("x", both, "weight", matrix(f, "wd" + e, weights[e])));
            Value given = f.input("given" + e, SHARE);
            Value share = only(f, "relu", "share" + e, Map.of("x", given));
            Value part = only(f, "mul", "part" + e, Map.of("x", down, "y", share));
            total = total == null ? part : only(f, "add", "total" + e, Map.of("x", total, "y", part));
        }
        return f.done(total);
    }

    private static List<String> kinds(Function function) {
        return function.operations().stream()
                .map(Operation::kind)
                .filter(kind -> !kind.equals("const"))
                .toList();
    }

    @Test
    void whatAnExpertNeedsStandsBehindAGuard() {
        Function given = mixture(ProgramBuilder.create().function("main"), 0.5, 0.25);
        Function result = Planner.prepare(given, Numerics.DECLARED);
        List<String> expert = List.of(GuardExperts.GUARD, "linear", "linear", "silu", "mul", "linear", "mul");
        List<String> all = new ArrayList<>(List.of("relu"));
        all.addAll(expert);
        all.add("relu");
        all.addAll(expert);
        all.add("add");
        assertEquals(all, kinds(result));
    }

    @Test
    void whatIsUsedElsewhereStaysWhereItIs() {
        FunctionBuilder f = ProgramBuilder.create().function("main");
        Value x = f.input("x", X);
        Value shared = only(f, "linear", "shared", Map.of("x", x, "weight", matrix(f, "w", 1)));
        Value down = only(f, "linear", "down", Map.of("x", shared, "weight", matrix(f, "wd", 1)));
        Value share = only(f, "relu", "share", Map.of("x", f.input("given", SHARE)));
        Value part = only(f, "mul", "part", Map.of("x", down, "y", share));
        Function given = f.done(only(f, "add", "sum", Map.of("x", part, "y", shared)));
        assertEquals(
                List.of("linear", "relu", GuardExperts.GUARD, "linear", "mul", "add"),
                kinds(GuardExperts.apply(given)));
        FunctionBuilder g = ProgramBuilder.create().function("main");
        Value y = g.input("x", X);
        Value plain = only(g, "linear", "plain", Map.of("x", y, "weight", matrix(g, "w", 1)));
        Function none = g.done(only(g, "mul", "scaled", Map.of("x", plain, "y", only(g, "relu", "r", Map.of("x", y)))));
        assertEquals(none, GuardExperts.apply(none));
    }

    private static float[] run(LoadedProgram program, float[]... shares) {
        Map<String, Tensor> inputs = new java.util.HashMap<>();
        inputs.put("x", Tensor.of(X, 1, 2, 3, 4, -1, 0.5f, 2, 0));
        for (int e = 0; e < shares.length; e++) {
            inputs.put("given" + e, Tensor.of(SHARE, shares[e]));
        }
        var function = program.function("main");
        return function.run(inputs, function.newState())
                .values()
                .iterator()
                .next()
                .toFloats();
    }

    @Test
    void anExpertThatNoRowHasChosenIsNotComputed() {
        ProgramBuilder builder = ProgramBuilder.create();
        // the third expert overflows: were it computed, its zero share would make it no number
        mixture(builder.function("main"), 0.5, 0.25, 1e30);
        EngineOptions options = EngineOptions.defaults().withThreads(1).withVector(false);
        try (LoadedProgram program = JvmEngine.load(builder.build(), Map.of(), new TestWeights(), options)) {
            float[] none = {0, 0};
            float[] both = run(program, new float[] {0.7f, 0.2f}, new float[] {0.3f, 0.8f}, none);
            float[] first = run(program, new float[] {0.7f, 0.2f}, none, none);
            float[] second = run(program, none, new float[] {0.3f, 0.8f}, none);
            for (int i = 0; i < both.length; i++) {
                assertEquals(first[i] + second[i], both[i], 1e-5f);
            }
            assertArrayEquals(new float[ROWS * WIDTH], run(program, none, none, none));
            assertArrayEquals(both, run(program, new float[] {0.7f, 0.2f}, new float[] {0.3f, 0.8f}, none));
            float[] half = run(program, new float[] {0.7f, 0}, new float[] {0, 0.8f}, none);
            assertEquals(first[0], half[0], 1e-6f);
            assertEquals(second[WIDTH], half[WIDTH], 1e-6f);
            assertTrue(
                    Float.isNaN(run(program, none, none, new float[] {0, 1})[0]), "one row's choice computes all rows");
        }
    }
}
