package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A module that many threads use, cancel and close; no Python. */
@Timeout(60)
class ConcurrentModuleTest {

    private static final TensorType SQUARE = TensorType.of(DType.FP32, 48, 48);
    private static final TensorType SMALL = TensorType.of(DType.FP32, 6, 6);

    @TempDir
    Path folder;

    /** {@code x} times itself many times over, in two sizes. */
    private CompiledModule open(int products) throws Exception {
        Path directory = Files.createTempDirectory(folder, "bundle");
        try (BundleWriter bundle = BundleWriter.create(directory)) {
            ProgramBuilder program = ProgramBuilder.create();
            int index = 0;
            for (TensorType type : List.of(SQUARE, SMALL)) {
                FunctionBuilder f = program.function(index++ == 0 ? "main" : "main_1", "ios18");
                Value x = f.input("x", type);
                Value y = x;
                for (int i = 0; i < products; i++) {
                    y = f.unary("tanh", "", f.matmul("", y, x, false, false));
                }
                f.done(List.of(f.unary("identity", "y", y)));
            }
            bundle.program(program.build());
            bundle.manifest("""
                    {"format": 1, "kind": "module", "target": "cpu", "options": {}, "rowAxes": {}, "versions": {},
                     "source": {"name": "products", "digest": "sha256:0"}}
                    """);
            bundle.finish();
        }
        return CompiledModule.open(directory, CompileOptions.defaults());
    }

    private static Map<String, Tensor> input(TensorType type, int seed) {
        Tensor x = Tensor.allocate(type);
        for (int i = 0; i < type.elements(); i++) {
            x.set(i, (float) Math.sin(seed + 0.7 * i) / 3);
        }
        return Map.of("x", x);
    }

    @Test
    void callsThatOverlapGiveTheBitsOfCallsOneAfterAnother() throws Exception {
        try (CompiledModule module = open(40)) {
            List<CompletableFuture<Map<String, Tensor>>> together = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                together.add(module.runAsync(input(i % 2 == 0 ? SQUARE : SMALL, i)));
            }
            for (int i = 0; i < 12; i++) {
                assertArrayEquals(
                        module.run(input(i % 2 == 0 ? SQUARE : SMALL, i))
                                .get("y")
                                .toFloats(),
                        together.get(i).join().get("y").toFloats());
            }
        }
    }

    @Test
    void aCallIsCancelledBetweenItsOperations() throws Exception {
        try (CompiledModule module = open(200)) {
            AtomicInteger asked = new AtomicInteger();

            CancellationException cancelled = assertThrows(
                    CancellationException.class,
                    () -> module.run(input(SQUARE, 1), () -> asked.incrementAndGet() > 50));

            assertEquals("the call was cancelled after 50 of 400 steps", cancelled.getMessage());
            assertTrue(Float.isFinite(module.run(input(SQUARE, 1)).get("y").get(0)), "and the next call runs");
        }
    }

    @Test
    void cancellingTheFutureEndsTheCall() throws Exception {
        try (CompiledModule module = open(20_000)) {
            CompletableFuture<Map<String, Tensor>> future = module.runAsync(input(SQUARE, 1));
            future.cancel(false);

            assertThrows(CancellationException.class, future::join);
        }
    }

    @Test
    void closingEndsWhatIsRunningAndRefusesWhatComes() throws Exception {
        CompiledModule module = open(300);
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<Map<String, Tensor>> call = CompletableFuture.supplyAsync(() -> {
            Map<String, Tensor> last = Map.of();
            for (int i = 0; i < 100_000; i++) {
                last = module.run(input(SQUARE, i));
                running.countDown();
            }
            return last;
        });
        running.await();
        module.close();
        module.close();

        assertInstanceOf(
                IllegalStateException.class,
                assertThrows(CompletionException.class, call::join).getCause());
        assertThrows(IllegalStateException.class, () -> module.run(input(SQUARE, 1)));
        assertThrows(IllegalStateException.class, () -> module.runAsync(input(SQUARE, 1)));
    }

    @Test
    void inputsThatFitNoFunctionAreRefusedWithWhatThereIs() throws Exception {
        try (CompiledModule module = open(1)) {
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class, () -> module.run(input(TensorType.of(DType.FP32, 5, 5), 1)));

            assertTrue(refused.getMessage().contains("[5, 5]"), refused.getMessage());
            assertTrue(refused.getMessage().contains("[48, 48]"), refused.getMessage());
            assertTrue(refused.getMessage().contains("[6, 6]"), refused.getMessage());
        }
    }

    @Test
    void aModuleIsNoLanguageModelAndSaysSo() throws Exception {
        try (CompiledModule module = open(1);
                Bundle bundle = Bundle.open(module.bundle())) {
            TorchAneException refused = assertThrows(
                    TorchAneException.class, () -> bundle.manifest().model());
            assertTrue(refused.getMessage().contains("open it as a CompiledModule"), refused.getMessage());
            assertThrows(TorchAneException.class, bundle::embedding);
            assertThrows(TorchAneException.class, module::validate);
        }
    }
}
