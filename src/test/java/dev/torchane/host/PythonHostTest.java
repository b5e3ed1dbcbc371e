package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.PolyglotException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PythonHostTest {

    private static final String SOURCE = """
            import ctypes
            import threading

            import torch

            kept = []


            def make(count):
                tensor = torch.arange(count, dtype=torch.float32)
                kept.append(tensor)
                return tensor


            def look(index):
                return kept[-1][index].item()


            def wrap(address, count):
                memory = memoryview((ctypes.c_float * count).from_address(address))
                kept.append(torch.frombuffer(memory, dtype=torch.float32))


            def store(index, value):
                kept[-1][index] = value


            def total():
                return kept[-1].sum().item()


            def thread():
                return threading.current_thread().name + str(threading.get_ident())


            def add(a, b):
                return (torch.tensor([float(a)]) + b).item()


            def inner():
                raise ValueError("the middle of it")


            def fail():
                try:
                    inner()
                except ValueError as error:
                    raise RuntimeError("the whole of it") from error


            def deep(levels):
                return 0 if levels == 0 else 1 + deep(levels - 1)


            def leave():
                raise SystemExit(3)


            def second_context():
                raise SystemError("a second GraalPy context attempted to load a native module 'torch._C'")


            def offline():
                import os

                return os.environ["HF_HUB_OFFLINE"] + os.environ["TRANSFORMERS_OFFLINE"]
            """;

    @HostAccess.Implementable
    interface Probe {
        PythonTensor make(int count);

        double look(int index);

        void wrap(long address, int count);

        void store(int index, double value);

        double total();

        String thread();

        double add(double a, double b);

        void fail();

        int deep(int levels);

        void leave();

        void second_context();

        String offline();
    }

    private static Probe probe;

    private static <T> T python(java.util.function.Function<Probe, T> call) {
        return SharedHost.get().call(python -> {
            if (probe == null) {
                probe = python.define(SOURCE, Probe.class);
            }
            return call.apply(probe);
        });
    }

    @Test
    void javaReadsAndWritesTheVeryMemoryOfATensor() {
        python(probe -> {
            MemorySegment memory = NativeMemory.of(probe.make(1000));
            assertEquals(4000, memory.byteSize());
            assertEquals(999f, memory.getAtIndex(ValueLayout.JAVA_FLOAT, 999));

            memory.setAtIndex(ValueLayout.JAVA_FLOAT, 500, -7f);
            assertEquals(-7.0, probe.look(500));
            probe.store(501, 42);
            assertEquals(42f, memory.getAtIndex(ValueLayout.JAVA_FLOAT, 501));
            return null;
        });
    }

    @Test
    void pythonReadsAndWritesTheVeryMemoryOfASegment() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(4000, 64);
            python(probe -> {
                probe.wrap(memory.address(), 1000);
                memory.fill((byte) 0);
                memory.setAtIndex(ValueLayout.JAVA_FLOAT, 3, 2.5f);
                assertEquals(2.5, probe.total());
                probe.store(999, 8);
                assertEquals(8f, memory.getAtIndex(ValueLayout.JAVA_FLOAT, 999));
                return null;
            });
        }
    }

    @Test
    void manyThreadsShareOneOwner() throws Exception {
        try (ExecutorService platform = Executors.newFixedThreadPool(4);
                ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Double>> sums = new ArrayList<>();
            List<Future<String>> threads = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int value = i;
                Callable<Double> sum = () -> python(probe -> probe.add(value, 1));
                sums.add(platform.submit(sum));
                sums.add(virtual.submit(sum));
                threads.add(virtual.submit(() -> python(Probe::thread)));
                threads.add(platform.submit(() -> python(Probe::thread)));
            }
            for (int i = 0; i < 20; i++) {
                assertEquals(i + 1.0, sums.get(2 * i).get());
                assertEquals(i + 1.0, sums.get(2 * i + 1).get());
            }
            String owner = threads.getFirst().get();
            for (Future<String> thread : threads) {
                assertEquals(owner, thread.get());
            }
        }
    }

    @Test
    void aCallWithinACallRunsAtOnce() {
        assertEquals(5.0, python(outer -> outer.add(python(inner -> inner.add(1, 2)), 2)));
    }

    @Test
    void startingAgainGivesTheSameHost() {
        assertSame(SharedHost.get(), SharedHost.get());
    }

    @Test
    void anotherEnvironmentInTheSameProcessIsRefused(@TempDir Path other) {
        SharedHost.get();
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> PythonHost.start(new PythonSettings(other, other)));

        assertTrue(e.getMessage().contains("one Python environment"), e.getMessage());
    }

    @Test
    void aPythonErrorArrivesWithItsTracebackAndTheHostGoesOn() {
        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> python(probe -> {
                    probe.fail();
                    return null;
                }));

        assertEquals("Python failed: RuntimeError: the whole of it", e.getMessage());
        String traceback = e.getCause().getMessage();
        assertTrue(traceback.startsWith("Traceback (most recent call last):"), traceback);
        assertTrue(traceback.contains("in inner\nValueError: the middle of it"), traceback);
        assertTrue(traceback.contains("direct cause"), traceback);
        assertTrue(traceback.endsWith("RuntimeError: the whole of it"), traceback);
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            assertTrue(!(cause instanceof PolyglotException), "no polyglot type leaves the host");
        }
        assertEquals(3.0, python(probe -> probe.add(1, 2)));
    }

    @Test
    void aJavaExceptionBelowPythonComesBackAsItself() {
        TorchAneException thrown = new TorchAneException("no such weight");
        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> SharedHost.get().call(python -> {
                    @HostAccess.Implementable
                    interface Caller {
                        void call(ProgressSink sink);
                    }
                    python.define("def call(sink):\n    sink.done(1)\n", Caller.class)
                            .call(new ProgressSink() {
                                @Override
                                public void stage(String stage, long total, String unit) {}

                                @Override
                                public void done(long units) {
                                    throw thrown;
                                }
                            });
                    return null;
                }));

        assertSame(thrown, e);
        assertTrue(
                Arrays.stream(e.getSuppressed())
                        .anyMatch(each -> String.valueOf(each.getMessage()).contains("in call")),
                "the Python frames are told");
    }

    @Test
    void exitingPythonDoesNotEndTheProcess() {
        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> python(probe -> {
                    probe.leave();
                    return null;
                }));

        assertTrue(e.getMessage().startsWith("Python code asked the process to exit"), e.getMessage());
        assertEquals(3.0, python(probe -> probe.add(1, 2)));
    }

    @Test
    void graalPysRefusalOfASecondNativeContextIsExplained() {
        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> python(probe -> {
                    probe.second_context();
                    return null;
                }));

        assertTrue(e.getMessage().startsWith("another GraalPy context of this process"), e.getMessage());
    }

    @Test
    void theOwnerHasAStackForDeepRecursion() {
        int levels = python(probe -> probe.deep(800));
        assertEquals(800, levels);
    }

    @Test
    void pythonIsOffline() {
        assertEquals("11", python(Probe::offline));
    }
}
