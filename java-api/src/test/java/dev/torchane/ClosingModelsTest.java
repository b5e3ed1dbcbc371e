package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.FinishReason;
import dev.torchane.program.Bundle;
import dev.torchane.testing.TinyBundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models that are closed, opened again, or damaged: exceptions that say so, and the process goes on. */
class ClosingModelsTest {

    private static final CausalLMOptions OPTIONS =
            CausalLMOptions.builder().threads(2).build();
    private static final GenerateOptions FOREVER =
            GenerateOptions.defaults().withRaw(true).withMaxNewTokens(Integer.MAX_VALUE);

    @TempDir
    Path folder;

    private static GenerateOptions tokens(int count) {
        return FOREVER.withMaxNewTokens(count);
    }

    @Test
    void aModelClosedWhileAnotherThreadStreamsEndsThatStreamWithAnIllegalState() throws Exception {
        Path bundle = TinyBundle.write(folder);
        for (int round = 0; round < 20; round++) {
            CausalLM lm = CausalLM.open(bundle, OPTIONS);
            CountDownLatch streaming = new CountDownLatch(1 + round);
            GenerateOptions slowly = FOREVER.withOnText(_ -> {
                streaming.countDown();
                pause();
            });
            CompletableFuture<Generation> stream = CompletableFuture.supplyAsync(() -> lm.generate("hello", slowly));
            assertTrue(streaming.await(30, TimeUnit.SECONDS), "the stream began");
            lm.close();

            Throwable end = assertThrows(Exception.class, () -> stream.get(30, TimeUnit.SECONDS))
                    .getCause();
            assertInstanceOf(IllegalStateException.class, end, () -> stackTrace(end));
            assertTrue(end.getMessage().contains("closed"), () -> stackTrace(end));
        }
    }

    @Test
    void aListenerMayCloseTheModelItListensTo() {
        CausalLM lm = CausalLM.open(TinyBundle.write(folder), OPTIONS);
        IllegalStateException end = assertThrows(
                IllegalStateException.class, () -> lm.generate("hello", FOREVER.withOnText(_ -> lm.close())));
        assertTrue(end.getMessage().contains("closed"), end.getMessage());
    }

    @Test
    void closingFromSeveralThreadsAtOnceClosesOnce() throws Exception {
        Path bundle = TinyBundle.write(folder);
        for (int round = 0; round < 20; round++) {
            CausalLM lm = CausalLM.open(bundle, OPTIONS);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = Thread.ofVirtual().start(() -> {
                    try {
                        lm.close();
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                });
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(null, failure.get());
        }
    }

    @Test
    void everyCallAfterCloseIsAnIllegalState() {
        CausalLM lm = CausalLM.open(TinyBundle.write(folder), OPTIONS);
        lm.close();
        lm.close();
        assertThrows(IllegalStateException.class, () -> lm.feed(1));
        assertThrows(IllegalStateException.class, () -> lm.generate("hello", tokens(1)));
        assertThrows(IllegalStateException.class, () -> lm.generate(new int[] {1}, tokens(1)));
        assertThrows(IllegalStateException.class, () -> lm.encode("hello", true));
        assertThrows(IllegalStateException.class, lm::position);
        assertThrows(IllegalStateException.class, lm::reset);
    }

    @Test
    void oneModelClosesWithoutTheOtherNoticing() {
        Path bundle = TinyBundle.write(folder);
        try (CausalLM kept = CausalLM.open(bundle, OPTIONS)) {
            for (int round = 0; round < 3; round++) {
                try (CausalLM passing = CausalLM.open(bundle, OPTIONS)) {
                    assertEquals(
                            TinyBundle.TOKEN.repeat(3),
                            passing.generate("hello", tokens(3)).text());
                }
                assertEquals(
                        TinyBundle.TOKEN.repeat(3),
                        kept.generate("hello", tokens(3)).text());
            }
        }
    }

    @Test
    void anEmptyPromptIsRefusedAndTheModelGoesOn() {
        try (CausalLM lm = CausalLM.open(TinyBundle.write(folder), OPTIONS)) {
            for (Runnable call : new Runnable[] {
                () -> lm.generate(new int[0], tokens(4)), () -> lm.generate("", tokens(4)), () -> lm.feed()
            }) {
                IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::run);
                assertTrue(e.getMessage().contains("prompt is empty"), e.getMessage());
            }
            assertEquals(FinishReason.LENGTH, lm.generate("hello", tokens(4)).reason());
        }
    }

    @Test
    void aWeightFileCutAtAnyPlaceIsRefused() throws IOException {
        Path weights = TinyBundle.write(folder).resolve(Bundle.WEIGHTS);
        byte[] whole = Files.readAllBytes(weights);
        Random random = new Random(1);
        for (int round = 0; round < 60; round++) {
            Files.write(weights, Arrays.copyOf(whole, random.nextInt(whole.length)));
            TorchAneException e = assertThrows(TorchAneException.class, () -> CausalLM.open(folder, OPTIONS));
            assertTrue(e.getMessage().contains("weight.bin"), e.getMessage());
        }
    }

    @Test
    void aWeightFileWithDamagedBytesIsRefusedOrRunsButNeverFails() throws IOException {
        Path weights = TinyBundle.write(folder).resolve(Bundle.WEIGHTS);
        byte[] whole = Files.readAllBytes(weights);
        Random random = new Random(2);
        int refused = 0;
        for (int round = 0; round < 60; round++) {
            byte[] damaged = whole.clone();
            int records = round % 2 == 0 ? 128 : whole.length;
            for (int i = 0; i < 8; i++) {
                damaged[random.nextInt(records)] = (byte) random.nextInt();
            }
            Files.write(weights, damaged);
            try (CausalLM lm = CausalLM.open(folder, OPTIONS)) {
                lm.generate("hello", tokens(3));
            } catch (TorchAneException e) {
                refused++;
            }
        }
        assertTrue(refused > 10, "refused " + refused);
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String stackTrace(Throwable thrown) {
        java.io.StringWriter text = new java.io.StringWriter();
        thrown.printStackTrace(new java.io.PrintWriter(text));
        return text.toString();
    }
}
