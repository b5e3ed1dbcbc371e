package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rewrites of functions, as the operations before and after. */
class RewritesTest {

    private static final TensorType ROWS = TensorType.of(DType.FP32, 1, 8, 4);

    private static FunctionBuilder function() {
        return ProgramBuilder.create().function("main");
    }

    private static List<String> kinds(Function function) {
        return function.operations().stream()
                .map(Operation::kind)
                .filter(kind -> !kind.equals("const"))
                .toList();
    }

    private static Value weight(FunctionBuilder f, int size) {
        return f.constant(
                "weight", new Literal.Numbers(TensorType.of(DType.FP32, size), Collections.nCopies(size, 1.0)));
    }

    @Test
    void rmsNormBecomesOneOperation() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        Function given = f.done(f.rmsNorm("y", x, weight(f, 4), 1e-6));
        assertEquals(List.of("mul", "reduce_mean", "rsqrt", "mul", "mul"), kinds(given));
        Function result = Planner.prepare(given, Numerics.FP32);
        assertEquals(List.of("jvm.rms_norm"), kinds(result));
        assertEquals(List.of("x", "weight", "epsilon"), parameters(result, 0));
    }

    @Test
    void rmsNormInFp16LosesItsCasts() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS.withDtype(DType.FP16));
        Value w = f.constant("weight", new Literal.Numbers(TensorType.of(DType.FP16, 4), Collections.nCopies(4, 1.0)));
        Function given = f.done(f.rmsNorm("y", x, w, 1e-6));
        assertEquals(List.of("jvm.rms_norm"), kinds(Planner.prepare(given, Numerics.FP32)));
    }

    @Test
    void declaredNumericsFuseNothing() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        Function given = f.done(f.rmsNorm("y", x, weight(f, 4), 1e-6));
        assertEquals(kinds(given), kinds(Planner.prepare(given, Numerics.DECLARED)));
    }

    @Test
    void ropeBecomesOneOperation() {
        FunctionBuilder f = function();
        Value x = f.input("x", TensorType.of(DType.FP32, 1, 3, 8, 4));
        Value cos = f.input("cos", TensorType.of(DType.FP32, 1, 1, 8, 4));
        Value sin = f.input("sin", TensorType.of(DType.FP32, 1, 1, 8, 4));
        Function given = f.done(f.rope("y", x, cos, sin));
        assertEquals(List.of("slice_by_index", "slice_by_index", "mul", "concat", "mul", "mul", "add"), kinds(given));
        Function result = Planner.prepare(given, Numerics.FP32);
        assertEquals(List.of("jvm.rope"), kinds(result));
        assertEquals(List.of("x", "cos", "sin"), parameters(result, 0));
    }

    @Test
    void attentionBecomesOneOperationPlainAndGrouped() {
        for (int kv : List.of(4, 2)) {
            FunctionBuilder f = function();
            Value q = f.input("q", TensorType.of(DType.FP32, 1, 4, 8, 16));
            Value k = f.input("k", TensorType.of(DType.FP32, 1, kv, 32, 16));
            Value v = f.input("v", TensorType.of(DType.FP32, 1, kv, 32, 16));
            Value mask = f.input("mask", TensorType.of(DType.FP32, 1, 1, 8, 32));
            Function given = f.done(f.attention("y", q, k, v, mask, 0.25));
            Function result = Planner.prepare(given, Numerics.FP32);
            assertEquals(List.of("jvm.sdpa"), kinds(result));
            assertEquals(List.of("query", "key", "value", "mask", "scale"), parameters(result, 0));
        }
    }

    @Test
    void swigluBecomesOneOperation() {
        FunctionBuilder f = function();
        Value gate = f.input("gate", ROWS);
        Value up = f.input("up", ROWS);
        Function given = f.done(f.swiglu("y", gate, up));
        assertEquals(List.of("silu", "mul"), kinds(given));
        assertEquals(List.of("jvm.swiglu"), kinds(Planner.prepare(given, Numerics.FP32)));
    }

    @Test
    void aGroupWhoseInsideIsUsedElsewhereStays() {
        FunctionBuilder f = function();
        Value gate = f.input("gate", ROWS);
        Value up = f.input("up", ROWS);
        Value product = f.swiglu("y", gate, up);
        Value inside = f.constant("unused", Literal.scalar(DType.FP32, 1));
        Function made = f.done(product, inside);
        Value act = made.operations().stream()
                .filter(operation -> operation.kind().equals("silu"))
                .findFirst()
                .orElseThrow()
                .output();
        Function given = new Function(
                made.name(),
                made.opset(),
                made.inputs(),
                made.operations(),
                List.of(made.outputs().getFirst(), act));
        assertEquals(List.of("silu", "mul"), kinds(Planner.prepare(given, Numerics.FP32)));
    }

    @Test
    void deadCodeGoes() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        f.unary("exp", "unused", x);
        Function given = f.done(f.unary("relu", "y", x));
        assertEquals(List.of("exp", "relu"), kinds(given));
        assertEquals(List.of("relu"), kinds(RemoveDeadCode.apply(given)));
    }

    private static final TensorType STATE = TensorType.of(DType.FP32, 2, 32, 4);

    private static Value update(FunctionBuilder f, Value state, Value rows, Value step) {
        Value zero = f.constant(Literal.int32s(0));
        Value begin = f.concat("begin", List.of(zero, step, zero), 0);
        Value end = f.concat("end", List.of(f.constant(Literal.int32s(1)), step, f.constant(Literal.int32s(4))), 0);
        Value old = f.readState("old", state);
        return f.sliceUpdate("new", old, rows, begin, end);
    }

    @Test
    void statesAreUpdatedInPlace() {
        FunctionBuilder f = function();
        Value rows = f.input("rows", ROWS);
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value state = f.state("s", STATE);
        f.writeState("write", state, update(f, state, rows, step));
        Value all = f.readState("all", state);
        Function given = f.done(f.sliceByIndex("y", all, List.of(1, 0, 0), List.of(2, 32, 4)));
        assertEquals(
                List.of(
                        "concat",
                        "concat",
                        "read_state",
                        "slice_update",
                        "write_state",
                        "read_state",
                        "slice_by_index"),
                kinds(given));
        assertEquals(
                List.of("concat", "jvm.update_state", "read_state", "slice_by_index"),
                kinds(Planner.prepare(given, Numerics.FP32)),
                "the read is an output's memory, so it is a copy");
    }

    @Test
    void whatIsReadBeforeAWriteAndUsedAfterItIsCopied() {
        FunctionBuilder f = function();
        Value rows = f.input("rows", ROWS);
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value state = f.state("s", STATE);
        Value before = f.readState("before", state);
        f.writeState("write", state, update(f, state, rows, step));
        Value after = f.readState("after", state);
        Function given = f.done(f.sub("y", after, before));
        assertEquals(
                List.of("read_state", "concat", "jvm.update_state", "jvm.read_state", "sub"),
                kinds(Planner.prepare(given, Numerics.FP32)));
    }

    @Test
    void fewerRowsGoThroughShapesAndUpdates() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value pick = f.input("pick", TensorType.of(DType.FP32, 1, 8));
        Value state = f.state("s", STATE);
        Value heads = f.transpose("heads", f.reshape("split", x, 1, 8, 2, 2), 0, 2, 1, 3);
        Value back = f.reshape("back", f.transpose("rows", heads, 0, 2, 1, 3), 1, 8, 4);
        f.writeState("write", state, update(f, state, back, step));
        Value picked = f.reduce(
                "reduce_sum", "picked", f.mul("weighed", back, f.expandDims("wide", pick, -1)), List.of(1), true);
        Function given = f.done(picked, back);
        RowSpecializer.Result result =
                RowSpecializer.apply(given, Map.of("x", 1, "pick", 1), 3).orElseThrow();
        assertEquals(Map.of("back", 1), result.outputAxes());
        assertEquals(List.of(1, 2, 3, 2), type(result.function(), "heads").shape());
        assertEquals(List.of(1, 3, 4), type(result.function(), "back").shape());
        assertEquals(List.of(1, 1, 4), type(result.function(), "picked").shape());
        assertEquals(
                TensorType.of(DType.INT32, 1),
                result.function().tensors().getLast().type());
        assertEquals("jvm_row_start", result.function().tensors().getLast().name());
        assertEquals(
                List.of(
                        "reshape",
                        "transpose",
                        "transpose",
                        "reshape",
                        "concat",
                        "concat",
                        "read_state",
                        "concat",
                        "add",
                        "add",
                        "slice_update",
                        "write_state",
                        "expand_dims",
                        "mul",
                        "reduce_sum"),
                kinds(result.function()));
    }

    @Test
    void rowsThatAreMixedAreAllComputed() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        Function mean = f.done(f.reduceMean("y", x, List.of(1), true));
        assertTrue(RowSpecializer.apply(mean, Map.of("x", 1), 3).isEmpty());
        FunctionBuilder g = function();
        Value y = g.input("x", ROWS);
        Function softmax = g.done(g.softmax("y", y, 1));
        assertTrue(RowSpecializer.apply(softmax, Map.of("x", 1), 3).isEmpty());
        FunctionBuilder h = function();
        Value z = h.input("x", ROWS);
        Function products = h.done(h.matmul("y", z, z, true, false));
        assertTrue(RowSpecializer.apply(products, Map.of("x", 1), 3).isEmpty());
    }

    private static TensorType type(Function function, String name) {
        return function.operations().stream()
                .flatMap(operation -> operation.outputs().stream())
                .filter(value -> value.name().equals(name))
                .findFirst()
                .orElseThrow()
                .type();
    }

    private static List<String> parameters(Function function, int index) {
        return List.copyOf(function.operations().stream()
                .filter(operation -> !operation.kind().equals("const"))
                .toList()
                .get(index)
                .inputs()
                .keySet());
    }

    private static Value matrix(FunctionBuilder f, String name, int outputs, int inputs) {
        TensorType type = TensorType.of(DType.FP32, outputs, inputs);
        return f.constant(name, new Literal.Numbers(type, Collections.nCopies(outputs * inputs, 0.5)));
    }

    @Test
    void linearLayersOfTheSameRowsBecomeOneStep() {
        FunctionBuilder f = function();
        Value x = f.input("x", ROWS);
        Value q = f.operation("linear", "q", Map.of("x", x, "weight", matrix(f, "wq", 3, 4)))
                .getFirst();
        Value r = f.operation("relu", "r", Map.of("x", q)).getFirst();
        Value k = f.operation("linear", "k", Map.of("x", x, "weight", matrix(f, "wk", 5, 4)))
                .getFirst();
        Value o = f.operation("linear", "o", Map.of("x", r, "weight", matrix(f, "wo", 5, 3)))
                .getFirst();
        Function given = f.done(o, k);
        Function result = Planner.prepare(given, Numerics.FP32);
        assertEquals(
                List.of("q", "k", "r", "o"),
                result.operations().stream()
                        .filter(operation -> !operation.kind().equals("const"))
                        .map(operation -> operation.output().name())
                        .toList());
        WeightStore store = new WeightStore(new TestWeights(), Numerics.FP32);
        List<Step> steps = Planner.plan(result, store, EngineOptions.defaults()).steps();
        assertEquals(3, steps.size());
        assertEquals(2, ((LinearStep) steps.getFirst()).layers().size());
    }
}
