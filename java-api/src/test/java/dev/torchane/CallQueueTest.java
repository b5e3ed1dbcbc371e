package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Hand-made programs, called by name and chained without waiting. */
class CallQueueTest {

    private static final TensorType PAIR = TensorType.of(DType.FP32, 1, 2);

    private final MilProgram program = MilProgram.of(kernels());

    private static Program kernels() {
        ProgramBuilder program = ProgramBuilder.create();
        FunctionBuilder twice = program.function("twice");
        Value x = twice.input("x", PAIR);
        twice.done(twice.add("y", x, x));
        FunctionBuilder count = program.function("count");
        Value total = count.state("total", PAIR);
        Value sum = count.add("sum", count.readState("before", total), count.input("x", PAIR));
        count.writeState("write", total, sum);
        count.done(count.mul("y", sum, Literal.scalar(DType.FP32, 1)));
        return program.build();
    }

    @AfterEach
    void close() {
        program.close();
    }

    private static Tensor pair(float first, float second) {
        return Tensor.of(PAIR, first, second);
    }

    @Test
    void aCallTakesWhatAnEarlierOneGives() {
        try (CallQueue queue = new CallQueue()) {
            CallQueue.Call call = queue.enqueue(program, "twice", Map.of("x", CallQueue.given(pair(1, 2))));
            for (int i = 0; i < 9; i++) {
                call = queue.enqueue(program, "twice", Map.of("x", call.output("y")));
            }
            assertArrayEquals(new float[] {1024, 2048}, call.await().get("y").toFloats());
        }
    }

    @Test
    void completionHandlersHearInTheOrderOfTheCalls() {
        List<Float> heard = Collections.synchronizedList(new ArrayList<>());
        try (State state = program.newState("count");
                CallQueue queue = new CallQueue()) {
            for (int i = 1; i <= 5; i++) {
                queue.enqueue(program, "count", Map.of("x", CallQueue.given(pair(i, 0))), state)
                        .onDone(results -> heard.add(results.get("y").get(0)));
            }
        }
        assertEquals(List.of(1f, 3f, 6f, 10f, 15f), heard);
    }

    @Test
    void aFailureReachesTheCallsThatDependOnItAndNoOthers() {
        try (CallQueue queue = new CallQueue();
                CallQueue other = new CallQueue()) {
            CallQueue.Call broken = queue.enqueue(program, "twice", Map.of());
            CallQueue.Call after = queue.enqueue(program, "twice", Map.of("x", broken.output("y")));
            CallQueue.Call missing = queue.enqueue(program, "none", Map.of());
            CallQueue.Call fine = queue.enqueue(program, "twice", Map.of("x", CallQueue.given(pair(1, 1))));
            CallQueue.Call unnamed = queue.enqueue(program, "twice", Map.of("x", fine.output("z")));
            String first =
                    assertThrows(IllegalArgumentException.class, broken::await).getMessage();
            assertEquals(
                    first,
                    assertThrows(IllegalArgumentException.class, after::await).getMessage());
            assertTrue(assertThrows(IllegalArgumentException.class, missing::await)
                    .getMessage()
                    .contains("it has [twice, count]"));
            assertTrue(assertThrows(IllegalArgumentException.class, unnamed::await)
                    .getMessage()
                    .contains("gives [y]"));
            assertArrayEquals(new float[] {2, 2}, fine.await().get("y").toFloats());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> other.enqueue(program, "twice", Map.of("x", fine.output("y"))));
        }
    }

    @Test
    void nothingIsTakenAfterClosing() {
        CallQueue queue = new CallQueue();
        queue.close();
        queue.close();
        assertThrows(
                IllegalStateException.class,
                () -> queue.enqueue(program, "twice", Map.of("x", CallQueue.given(pair(1, 1)))));
        program.close();
        program.close();
        assertThrows(IllegalStateException.class, () -> program.run("twice", Map.of("x", pair(1, 1))));
    }
}
