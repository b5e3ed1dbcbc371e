package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BuildingProgramsTest {

    private final ProgramBuilder program = ProgramBuilder.create();
    private final FunctionBuilder f = program.function("main");

    private static TensorType fp32(int... shape) {
        return TensorType.of(DType.FP32, shape);
    }

    @Test
    void aFunctionHasWhatWasAddedInOrder() {
        Value x = f.input("x", fp32(1, 4));
        Value w = f.constant("w", new Literal.Blob(fp32(8, 4), "@model_path/weights/weight.bin", 64));
        Value y = f.linear("y", x, w);
        Function function = f.done(f.softmax("z", y, -1));

        assertEquals(
                List.of("const", "linear", "const", "softmax"),
                function.operations().stream().map(Operation::kind).toList());
        assertEquals(fp32(1, 8), function.outputs().getFirst().type());
        assertEquals("1.3", program.build().version());
        assertEquals(function, program.build().function("main"));
    }

    @Test
    void aWrongShapeFailsAtThatLineNamingOperationOperandsAndExpectedType() {
        Value x = f.input("x", fp32(1, 4));
        Value w = f.input("w", fp32(8, 5));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> f.linear("q_proj", x, w));
        assertEquals(
                "linear 'q_proj'(x = tensor<fp32, [1, 4]> x, weight = tensor<fp32, [8, 5]> w) expects 'weight' of shape"
                        + " [N, 4], not tensor<fp32, [8, 5]>",
                e.getMessage());
    }

    @Test
    void equalLiteralsBecomeOneConstant() {
        Value x = f.input("x", fp32(2, 3));
        Value y = f.reduceMean("a", x, List.of(-1), true);
        Value z = f.reduceMean("b", y, List.of(-1), true);
        List<Operation> operations = f.done(z).operations();
        assertEquals(
                2, operations.stream().filter(o -> o.kind().equals("const")).count());
        assertEquals(
                "int32s_m1",
                operations.get(1).kind().equals("const")
                        ? operations.stream()
                                .filter(o -> o.kind().equals("reduce_mean"))
                                .findFirst()
                                .orElseThrow()
                                .input("axes")
                                .orElseThrow()
                                .name()
                        : "");
    }

    @Test
    void operandsStandInTheOrderOfMil() {
        Value x = f.input("x", fp32(2, 3));
        f.operation(
                "clip",
                "c",
                Map.of("beta", Literal.scalar(DType.FP32, 1), "x", x, "alpha", Literal.scalar(DType.FP32, 0)));
        Operation clip = f.done(x).operations().getLast();
        assertEquals(List.of("x", "alpha", "beta"), List.copyOf(clip.inputs().keySet()));
    }

    @Test
    void takenAndForeignNamesAreChangedToTheNearestFreeOne() {
        Value x = f.input("x", fp32(2));
        assertEquals("layers_0_act", f.silu("layers.0.act", x).name());
        assertEquals("layers_0_act_1", f.silu("layers.0.act", x).name());
        assertEquals("_1", f.silu("1", x).name());
        assertEquals("silu", f.silu("", x).name());
        assertThrows(IllegalArgumentException.class, () -> f.input("x", fp32(2)));
        assertThrows(IllegalArgumentException.class, () -> f.input("a.b", fp32(2)));
    }

    @Test
    void smallConstantsHaveReadableNames() {
        assertEquals("fp32_1_0Em5", f.constant(Literal.scalar(DType.FP32, 1e-5)).name());
        assertEquals("int32s_1_m1", f.constant(Literal.int32s(1, -1)).name());
        assertEquals("bool_true", f.constant(Literal.bool(true)).name());
        assertEquals("string_fp16", f.constant(Literal.text("fp16")).name());
    }

    @Test
    void unknownOperationsParametersAndForeignValuesAreRefusedByName() {
        Value x = f.input("x", fp32(2));
        assertMessage("no MIL operation is called 'frobnicate'", () -> f.unary("frobnicate", "", x));
        assertMessage(
                "silu 's' has no parameter 'y'; it has [x]", () -> f.operation("silu", "s", Map.of("x", x, "y", x)));
        assertMessage("add 's' needs 'y'", () -> f.operation("add", "s", Map.of("x", x)));
        assertMessage("needs a constant as 'axis'", () -> f.operation("softmax", "s", Map.of("x", x, "axis", x)));
        Value other = program.function("other").input("o", fp32(2));
        assertMessage("is not a value of function 'main'", () -> f.silu("s", other));
    }

    private static void assertMessage(String part, org.junit.jupiter.api.function.Executable body) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, body);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void statesAreReadUpdatedAndWritten() {
        Value state = f.state("key_cache", fp32(2, 1, 3, 16, 8));
        Value step = f.input("step", TensorType.of(DType.INT32, 1));
        Value rows = f.input("rows", fp32(1, 1, 3, 4, 8));
        Value layer = f.constant("layer", Literal.int32s(1));
        Value zero = f.constant("zero", Literal.int32s(0));
        Value begin = f.concat("begin", List.of(layer, zero, zero, step, zero), 0);
        Value end = f.add("end", begin, Literal.int32s(1, 1, 3, 4, 8));
        Value updated = f.sliceUpdate("updated", f.readState("before", state), rows, begin, end);
        f.writeState("write", state, updated);
        Value after = f.readState("after", state);
        Value slice = f.sliceByIndex("layer_1", after, List.of(1, 0, 0, 0, 0), List.of(2, 1, 3, 16, 8));
        assertEquals(fp32(1, 1, 3, 16, 8), slice.type());
        Function function = f.done(slice);
        assertEquals(List.of(state), function.states());
        assertTrue(function.operations().stream()
                .anyMatch(o -> o.kind().equals("write_state") && o.outputs().isEmpty()));
        assertThrows(IllegalStateException.class, () -> f.silu("late", slice));
    }

    @Test
    void aFunctionThatIsNotDoneStopsTheBuild() {
        IllegalStateException e = assertThrows(IllegalStateException.class, program::build);
        assertEquals("function 'main' is not done: call done(outputs) first", e.getMessage());
    }

    @Test
    void outputsGetTheNamesThatAreAskedFor() {
        Value x = f.input("x", fp32(2));
        Value taken = f.silu("logits", x);
        Value wanted = f.silu("hidden", taken);
        Map<String, Value> outputs = new java.util.LinkedHashMap<>();
        outputs.put("logits", wanted);
        outputs.put("same", wanted);
        outputs.put("echo", x);
        Function function = f.done(outputs);
        assertEquals(
                List.of("logits", "same", "echo"),
                function.outputs().stream().map(Value::name).toList());
        assertEquals(
                List.of("logits_1", "logits", "same", "echo"),
                function.operations().stream().map(o -> o.output().name()).toList());
        assertEquals(
                "logits_1",
                function.operations().get(1).input("x").orElseThrow().name());
    }

    @Test
    void blobsCanBeRelocated() {
        f.done(f.constant("w", new Literal.Blob(fp32(4), "weights", 0)));
        Program moved = program.build().withBlobs(b -> new Literal.Blob(b.type(), b.path(), 128));
        assertEquals(
                Optional.of(new Literal.Blob(fp32(4), "weights", 128)),
                moved.function("main").operations().getFirst().constant());
    }

    @Test
    void groupsShareAnAttributeAndAreListedAsInTheArchitecture() {
        Value x = f.input("x", TensorType.of(DType.FP16, 1, 8, 64));
        Value w = f.input("w", TensorType.of(DType.FP16, 64));
        f.rmsNorm("norm", x, w, 1e-5);
        f.rmsNorm("norm2", x, w, 1e-5);
        assertEquals(List.of("cast", "mul", "reduce_mean", "rsqrt", "mul", "cast", "mul"), members("rms_norm#0"));
        assertEquals(members("rms_norm#0"), members("rms_norm#1"));

        Value q = f.input("q", fp32(1, 6, 8, 16));
        Value cos = f.input("cos", fp32(1, 1, 8, 16));
        assertEquals(q.type(), f.rope("rope", q, cos, cos).type());
        assertEquals(
                List.of("slice_by_index", "slice_by_index", "mul", "concat", "mul", "mul", "add"), members("rope#0"));

        Value k = f.input("k", fp32(1, 2, 32, 16));
        Value mask = f.input("mask", fp32(1, 1, 8, 32));
        assertEquals(q.type(), f.attention("attn", q, k, k, mask, 0.25).type());
        assertEquals(
                List.of(
                        "mul",
                        "reshape",
                        "expand_dims",
                        "expand_dims",
                        "matmul",
                        "add",
                        "softmax",
                        "matmul",
                        "reshape"),
                members("sdpa#0"));

        Value gate = f.input("gate", fp32(1, 8, 32));
        assertEquals(gate.type(), f.swiglu("mlp", gate, gate).type());
        assertEquals(List.of("silu", "mul"), members("swiglu#0"));
    }

    private List<String> members(String group) {
        return f.operationsSoFar().stream()
                .filter(o -> o.composite().equals(Optional.of(group)))
                .map(Operation::kind)
                .toList();
    }
}
