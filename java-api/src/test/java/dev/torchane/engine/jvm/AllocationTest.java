package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.RowRange;
import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A step computes in memory that it has: by the JVM's own counters, a call allocates its results and little else. */
class AllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Results, the map they are in, and what describes them: nothing that grows with the steps or the weights. */
    private static final long BYTES = 8192;

    // Of the plain Java kernels: vectors are objects until the compiler has seen each loop, which 20,000 calls do not
    // ensure.
    @Test
    void aCallAllocatesItsResultsOnly() {
        try (LoadedProgram program = new TinyLlama(DType.FP32)
                        .load(EngineOptions.defaults().withVector(false).withThreads(2));
                State state = program.function("prefill").newState()) {
            LoadedFunction decode = program.function("decode");
            Map<String, Tensor> inputs = TinyLlama.inputs(TinyLlama.tokens(24), 16, 8, 0);
            RowRange row = new RowRange(0, 1);
            decode.run(inputs, state, row);
            long least = Long.MAX_VALUE;
            // The compiler removes the last temporary objects when it has seen enough calls.
            for (int i = 0; i < 20_000 && least > BYTES; i++) {
                long before = THREADS.getTotalThreadAllocatedBytes();
                decode.run(inputs, state, row);
                least = Math.min(least, THREADS.getTotalThreadAllocatedBytes() - before);
            }
            assertTrue(least <= BYTES, "a call allocates " + least + " bytes");
        }
    }
}
