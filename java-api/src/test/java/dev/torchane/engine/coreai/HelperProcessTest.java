package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What Java makes of processes that answer, end, hang or talk nonsense; {@code cat} answers each request with itself. */
@DisabledOnOs(OS.WINDOWS)
class HelperProcessTest {

    private static final Duration PATIENCE = Duration.ofMillis(300);
    private static final Duration BOUND = Duration.ofSeconds(2);
    private static final String EMPTY_ANSWER = "printf '\\002\\000\\000\\000{}'";

    @TempDir
    private Path folder;

    private HelperProcess sh(String script) {
        return new HelperProcess(List.of("/bin/sh", "-c", script), folder.resolve("log"));
    }

    private HelperProcess echo() {
        return sh("exec cat");
    }

    private static CoreAiException fails(HelperProcess helper) {
        return assertTimeout(
                BOUND, () -> assertThrows(CoreAiException.class, () -> helper.call("{\"op\":\"ping\"}", PATIENCE)));
    }

    @Test
    void eachRequestHasItsAnswer() {
        try (HelperProcess helper = echo()) {
            for (int i = 0; i < 100; i++) {
                JsonNode answer = helper.call("{\"number\":" + i + ",\"text\":\"ä\"}", BOUND);
                assertEquals(i, answer.get("number").asInt());
                assertEquals("ä", answer.get("text").asText());
            }
        }
    }

    @Test
    void aRefusalIsAnErrorAndTheProcessStays() {
        try (HelperProcess helper = echo()) {
            TorchAneException refused =
                    assertThrows(TorchAneException.class, () -> helper.call("{\"error\":\"no such axis\"}", BOUND));
            assertEquals("Core AI refused: no such axis", refused.getMessage());
            assertTrue(helper.alive());
            assertEquals(1, helper.call("{\"a\":1}", BOUND).get("a").asInt());
        }
    }

    @Test
    void aProcessThatEndsIsAnErrorWithItsLog() {
        try (HelperProcess helper = sh(
                "head -c 6 >/dev/null; " + EMPTY_ANSWER + "; head -c 4 >/dev/null; echo 'out of memory' >&2; exit 7")) {
            helper.call("{}", BOUND);
            CoreAiException gone = fails(helper);
            assertTrue(gone.getMessage().contains("exit status 7"), gone.getMessage());
            assertTrue(gone.getMessage().endsWith("it wrote last:\nout of memory"), gone.getMessage());
            assertFalse(helper.alive());
            fails(helper);
        }
    }

    @Test
    void aProcessThatDoesNotAnswerIsEnded() throws InterruptedException {
        try (HelperProcess helper = sh(EMPTY_ANSWER + "; exec sleep 600")) {
            helper.call("{}", BOUND);
            CoreAiException late = fails(helper);
            assertTrue(late.getMessage().contains("did not answer in time"), late.getMessage());
            assertFalse(helper.handle().isAlive());
        }
    }

    @Test
    void aProcessThatCannotStartIsAnError() {
        CoreAiException refused = assertThrows(
                CoreAiException.class,
                () -> new HelperProcess(List.of(folder.resolve("none").toString()), folder.resolve("log")));
        assertTrue(refused.getMessage().startsWith("cannot start "), refused.getMessage());
    }

    @Test
    void whatIsNoFrameIsAnError() throws IOException {
        Random random = new Random(3);
        for (int i = 0; i < 40; i++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (i % 2 == 0 && bytes.length > 4) {
                // A length that fits, and anything behind it.
                byte[] head = {(byte) (bytes.length - 4), 0, 0, 0};
                System.arraycopy(head, 0, bytes, 0, 4);
            }
            Path file = Files.write(folder.resolve("bytes" + i), bytes);
            try (HelperProcess helper = sh("exec cat " + file)) {
                fails(helper);
                assertFalse(helper.alive());
            }
        }
    }

    @Test
    void answersThatAreNoObjectsAreErrors() {
        for (String text : List.of("[]", "12", "\"a\"", "null")) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            try (HelperProcess helper = sh("printf '\\0" + bytes.length + "\\000\\000\\000" + text.replace("\"", "\\\"")
                    + "'; exec sleep 600")) {
                fails(helper);
            }
        }
    }

    @Test
    void aProcessKilledAtAnyTimeIsAnError() {
        Random random = new Random(5);
        for (int i = 0; i < 10; i++) {
            HelperProcess helper = echo();
            long nanos = random.nextLong(3_000_000);
            Thread killer = Thread.ofVirtual().start(() -> {
                try {
                    TimeUnit.NANOSECONDS.sleep(nanos);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                helper.handle().destroyForcibly();
            });
            assertTimeout(
                    BOUND,
                    () -> assertThrows(CoreAiException.class, () -> {
                        while (true) {
                            helper.call("{\"a\":\"" + "x".repeat(2000) + "\"}", BOUND);
                        }
                    }));
            killer.interrupt();
            helper.close();
        }
    }

    @Test
    void closingLeavesNoProcess() throws Exception {
        HelperProcess helper = echo();
        helper.call("{}", BOUND);
        ProcessHandle handle = helper.handle();
        helper.close();
        helper.close();
        handle.onExit().get(2, TimeUnit.SECONDS);
        assertThrows(CoreAiException.class, () -> helper.call("{}", BOUND));
    }
}
