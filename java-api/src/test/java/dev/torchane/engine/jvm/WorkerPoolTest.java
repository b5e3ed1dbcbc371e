package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The pool runs each chunk once, hands failures to the caller, and ends with its owner. */
class WorkerPoolTest {

    private static Call call(WorkerPool pool) {
        return new Call(KernelSet.of(new ScalarKernels()), pool);
    }

    @Test
    void everyChunkRunsOnceBeforeTheCallReturns() {
        try (WorkerPool pool = new WorkerPool(4)) {
            Call call = call(pool);
            for (int round = 0; round < 2000; round++) {
                int chunks = 1 + round % 37;
                AtomicIntegerArray runs = new AtomicIntegerArray(chunks);
                call.parallel((same, chunk, worker) -> runs.incrementAndGet(chunk), chunks);
                for (int chunk = 0; chunk < chunks; chunk++) {
                    assertEquals(1, runs.get(chunk), "round " + round + ", chunk " + chunk);
                }
            }
        }
    }

    @Test
    void workersWakeAfterARest() throws InterruptedException {
        try (WorkerPool pool = new WorkerPool(3)) {
            Call call = call(pool);
            for (int round = 0; round < 20; round++) {
                Thread.sleep(3);
                AtomicIntegerArray runs = new AtomicIntegerArray(50);
                call.parallel((same, chunk, worker) -> runs.incrementAndGet(chunk), 50);
                for (int chunk = 0; chunk < 50; chunk++) {
                    assertEquals(1, runs.get(chunk));
                }
            }
        }
    }

    @Test
    void aFailureReachesTheCallerAndThePoolGoesOn() {
        try (WorkerPool pool = new WorkerPool(2)) {
            Call call = call(pool);
            RuntimeException e = assertThrows(
                    RuntimeException.class,
                    () -> call.parallel(
                            (same, chunk, worker) -> {
                                if (chunk == 7) {
                                    throw new IllegalArgumentException("chunk 7");
                                }
                            },
                            20));
            assertTrue(e.getMessage().contains("chunk 7"), e.getMessage());
            AtomicIntegerArray runs = new AtomicIntegerArray(5);
            call.parallel((same, chunk, worker) -> runs.incrementAndGet(chunk), 5);
            assertEquals(1, runs.get(4));
        }
    }

    @Test
    void onePoolServesOneCallAtATime() {
        try (WorkerPool pool = new WorkerPool(2)) {
            assertTrue(pool.tryOwn());
            assertFalse(pool.tryOwn());
            pool.disown();
            assertTrue(pool.tryOwn());
        }
    }

    @Test
    void whileAnotherCallHasThePoolACallWorksAlone() {
        try (WorkerPool pool = new WorkerPool(3)) {
            Call call = call(pool);
            assertTrue(pool.tryOwn());
            Set<Thread> working = new HashSet<>();
            call.parallel((same, chunk, worker) -> working.add(Thread.currentThread()), 20);
            assertEquals(Set.of(Thread.currentThread()), working);
        }
    }

    @Test
    void callsOfManyThreadsTakeTurns() throws InterruptedException {
        try (WorkerPool pool = new WorkerPool(3)) {
            AtomicIntegerArray runs = new AtomicIntegerArray(4);
            List<Thread> callers = IntStream.range(0, 4)
                    .mapToObj(caller -> Thread.ofPlatform().start(() -> {
                        Call call = call(pool);
                        for (int round = 0; round < 500; round++) {
                            call.parallel((same, chunk, worker) -> runs.incrementAndGet(caller), 10);
                        }
                    }))
                    .toList();
            for (Thread caller : callers) {
                caller.join();
            }
            assertEquals("[5000, 5000, 5000, 5000]", runs.toString());
        }
    }

    @Test
    void programsShareThreadsAndTheLastOneEndsThem() throws InterruptedException {
        Set<Thread> others = threads();
        SharedPool first = SharedPool.lease(6);
        SharedPool second = SharedPool.lease(6);
        Set<Thread> own = threads();
        own.removeAll(others);
        assertEquals(5, own.size());
        assertSame(first.pool(), second.pool());
        first.close();
        first.close();
        AtomicIntegerArray runs = new AtomicIntegerArray(1);
        call(second.pool()).parallel((same, chunk, worker) -> runs.incrementAndGet(0), 12);
        assertEquals(12, runs.get(0));
        assertTrue(own.stream().allMatch(Thread::isAlive), "the second still has them");
        second.close();
        for (Thread thread : own) {
            assertTrue(thread.join(Duration.ofSeconds(5)), thread + " goes on");
        }
    }

    @Test
    void closingEndsTheThreads() throws InterruptedException {
        Set<Thread> others = threads();
        WorkerPool pool = new WorkerPool(5);
        Set<Thread> own = threads();
        own.removeAll(others);
        assertEquals(4, own.size());
        pool.close();
        for (Thread thread : own) {
            assertTrue(thread.join(Duration.ofSeconds(5)), thread + " goes on");
        }
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("torch-ane-jvm-\\d+"))
                .collect(Collectors.toCollection(HashSet::new));
    }
}
