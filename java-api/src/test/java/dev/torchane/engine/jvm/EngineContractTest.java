package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What every form of the engine promises, on a small language model. */
abstract class EngineContractTest {

    private static final float[][] TOKENS = TinyLlama.tokens(24);

    abstract EngineOptions options();

    private final TinyLlama model = new TinyLlama(DType.FP32);

    @Test
    void prefillThenDecodeComputesTheModel() {
        try (LoadedProgram program = model.load(options());
                State state = program.function("prefill").newState()) {
            float[] first = prefill(program, state, 16, RowRange.ALL);
            assertClose(model.reference(prefix(16)), first, 1e-4);
            for (int position = 16; position < 24; position++) {
                float[] logits = decode(program, state, position, new RowRange(0, 1));
                assertClose(model.reference(prefix(position + 1)), logits, 1e-4);
            }
        }
    }

    @Test
    void fp16StatesAreRoundedAndNothingElse() {
        TinyLlama half = new TinyLlama(DType.FP16);
        try (LoadedProgram program = half.load(options());
                State state = program.function("prefill").newState()) {
            assertClose(half.reference(prefix(16)), prefill(program, state, 16, RowRange.ALL), 2e-2);
            assertEquals(
                    TensorType.of(DType.FP16, TinyLlama.LAYERS, 1, TinyLlama.KV, TinyLlama.M, TinyLlama.DIM),
                    state.tensor("key_cache").type());
        }
    }

    @Test
    void aWindowGivesTheSameBitsWholeAndRowByRow() {
        try (LoadedProgram program = model.load(options());
                State whole = program.function("prefill").newState();
                State rows = program.function("prefill").newState()) {
            float[] together = prefill(program, whole, 16, RowRange.ALL);
            float[] alone = {};
            for (int row = 0; row < 16; row++) {
                alone = prefill(program, rows, 16, new RowRange(row, 1));
            }
            assertArrayEquals(together, alone, "logits");
            assertStates(whole, rows);
        }
    }

    @Test
    void aWindowGivesTheSameBitsInAnyPieces() {
        try (LoadedProgram program = model.load(options());
                State whole = program.function("prefill").newState();
                State pieces = program.function("prefill").newState()) {
            float[] together = prefill(program, whole, 16, RowRange.ALL);
            prefill(program, pieces, 16, new RowRange(0, 7));
            prefill(program, pieces, 16, new RowRange(7, 2));
            assertArrayEquals(together, prefill(program, pieces, 16, new RowRange(9, 7)), "logits");
            assertStates(whole, pieces);
        }
    }

    @Test
    void oneThreadAndSeveralGiveTheSameBits() {
        try (LoadedProgram one = model.load(options().withThreads(1));
                LoadedProgram three = model.load(options().withThreads(3));
                State first = one.function("prefill").newState();
                State second = three.function("prefill").newState()) {
            assertArrayEquals(prefill(one, first, 16, RowRange.ALL), prefill(three, second, 16, RowRange.ALL));
            for (int position = 16; position < 24; position++) {
                assertArrayEquals(
                        decode(one, first, position, new RowRange(0, 1)),
                        decode(three, second, position, new RowRange(0, 1)));
            }
        }
    }

    @Test
    void closedColumnsDoNotCount() {
        try (LoadedProgram program = model.load(options());
                State clean = program.function("prefill").newState();
                State dirty = program.function("prefill").newState()) {
            Tensor keys = dirty.tensor("key_cache");
            for (int i = 0; i < keys.type().elements(); i++) {
                keys.set(i, Float.NaN);
                dirty.tensor("value_cache").set(i, Float.NaN);
            }
            assertArrayEquals(prefill(program, clean, 16, RowRange.ALL), prefill(program, dirty, 16, RowRange.ALL));
        }
    }

    @Test
    void aRowThatSeesNothingStaysFinite() {
        try (LoadedProgram program = model.load(options());
                State state = program.function("prefill").newState()) {
            Map<String, Tensor> inputs = TinyLlama.inputs(TOKENS, 0, 16, 3);
            Tensor mask = inputs.get("mask");
            for (int c = 0; c < TinyLlama.M; c++) {
                mask.set(3 * TinyLlama.M + c, -40000);
            }
            for (float logit : run(program, "prefill", inputs, state, RowRange.ALL)) {
                assertTrue(Float.isFinite(logit));
            }
        }
    }

    @Test
    void useAfterCloseIsRefused() {
        LoadedProgram program = model.load(options());
        LoadedFunction function = program.function("decode");
        State state = function.newState();
        state.close();
        state.close();
        assertThrows(IllegalStateException.class, () -> state.tensor("key_cache"));
        assertThrows(IllegalStateException.class, () -> function.run(TinyLlama.inputs(TOKENS, 0, 8, 0), state));
        State other = function.newState();
        program.close();
        program.close();
        assertThrows(IllegalStateException.class, function::newState);
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> function.run(TinyLlama.inputs(TOKENS, 0, 8, 0), other));
        assertTrue(refused.getMessage().contains("closed"), refused.getMessage());
    }

    @Test
    void closingWhileAnotherThreadRunsIsSafe() throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            LoadedProgram program = model.load(options());
            LoadedFunction function = program.function("decode");
            State state = function.newState();
            Throwable[] thrown = new Throwable[1];
            Thread runner = new Thread(() -> {
                try {
                    while (true) {
                        function.run(TinyLlama.inputs(TOKENS, 0, 8, 0), state);
                    }
                } catch (Throwable e) {
                    thrown[0] = e;
                }
            });
            runner.start();
            Thread.sleep(2);
            if (round % 2 == 0) {
                program.close();
            } else {
                state.close();
            }
            runner.join(10_000);
            assertEquals(IllegalStateException.class, thrown[0].getClass(), () -> "" + thrown[0]);
            program.close();
        }
    }

    @Test
    void twoStatesRunAtTheSameTime() throws InterruptedException {
        try (LoadedProgram program = model.load(options());
                State alone = program.function("prefill").newState()) {
            float[] expected = prefill(program, alone, 16, RowRange.ALL);
            Thread[] threads = new Thread[4];
            float[][] found = new float[threads.length][];
            for (int i = 0; i < threads.length; i++) {
                int index = i;
                threads[i] = new Thread(() -> {
                    try (State own = program.function("prefill").newState()) {
                        for (int round = 0; round < 10; round++) {
                            found[index] = prefill(program, own, 16, RowRange.ALL);
                        }
                    }
                });
                threads[i].start();
            }
            for (int i = 0; i < threads.length; i++) {
                threads[i].join();
                assertArrayEquals(expected, found[i]);
            }
        }
    }

    @Test
    void wrongInputsAreNamed() {
        try (LoadedProgram program = model.load(options())) {
            LoadedFunction function = program.function("decode");
            State state = function.newState();
            Map<String, Tensor> missing = new HashMap<>(TinyLlama.inputs(TOKENS, 0, 8, 0));
            missing.remove("mask");
            assertMessage("needs the input 'mask'", () -> function.run(missing, state));
            Map<String, Tensor> unknown = new HashMap<>(TinyLlama.inputs(TOKENS, 0, 8, 0));
            unknown.put("extra", unknown.get("pick"));
            assertMessage("extra", () -> function.run(unknown, state));
            assertMessage("expected", () -> function.run(TinyLlama.inputs(TOKENS, 0, 16, 0), state));
            assertMessage("has 8", () -> function.run(TinyLlama.inputs(TOKENS, 0, 8, 0), state, new RowRange(8, 1)));
            assertMessage("it has [decode, prefill]", () -> program.function("nothing"));
        }
    }

    private static void assertMessage(String part, org.junit.jupiter.api.function.Executable body) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, body);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    private static void assertStates(State a, State b) {
        for (String name : a.names()) {
            assertArrayEquals(a.tensor(name).toFloats(), b.tensor(name).toFloats(), name);
        }
    }

    private static float[] prefill(LoadedProgram program, State state, int count, RowRange rows) {
        return run(program, "prefill", TinyLlama.inputs(prefix(count), 0, 16, count - 1), state, rows);
    }

    private static float[] decode(LoadedProgram program, State state, int position, RowRange rows) {
        return run(program, "decode", TinyLlama.inputs(TOKENS, position, 8, 0), state, rows);
    }

    private static float[] run(
            LoadedProgram program, String function, Map<String, Tensor> inputs, State state, RowRange rows) {
        return program.function(function).run(inputs, state, rows).get("logits").toFloats();
    }

    private static float[][] prefix(int count) {
        return java.util.Arrays.copyOf(TOKENS, count);
    }

    private static void assertClose(double[] expected, float[] found, double tolerance) {
        assertEquals(expected.length, found.length);
        for (int i = 0; i < found.length; i++) {
            assertEquals(expected[i], found[i], tolerance, "logit " + i);
        }
    }
}
