package dev.torchane.engine.coreai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** One process for all, which starts again once. */
@DisabledOnOs(OS.WINDOWS)
class HelperLinkTest {

    private static HelperLink echo() {
        HelperLink link = new HelperLink(folder -> List.of("/bin/sh", "-c", "exec cat"), _ -> {});
        link.use();
        return link;
    }

    private static void kill(HelperLink link) throws Exception {
        ProcessHandle handle = link.handle().orElseThrow();
        handle.destroyForcibly();
        handle.onExit().get(2, TimeUnit.SECONDS);
    }

    @Test
    void aProcessThatEndedIsStartedAgainOnce() throws Exception {
        HelperLink link = echo();
        assertEquals(1, link.generation());
        kill(link);
        assertEquals(2, link.generation());
        assertEquals(5, link.call("{\"a\":5}").get("a").asInt());
        kill(link);
        assertThrows(CoreAiException.class, () -> link.call("{}"));
        CoreAiException twice = assertThrows(CoreAiException.class, link::generation);
        assertTrue(twice.getMessage().contains("ended twice"), twice.getMessage());
        link.release();
    }

    @Test
    void itEndsWithItsLastUserAndItsFilesToo() throws Exception {
        HelperLink link = echo();
        link.use();
        link.generation();
        Path file = Files.writeString(link.file("text"), "a");
        ProcessHandle handle = link.handle().orElseThrow();
        link.release();
        assertTrue(handle.isAlive());
        link.release();
        handle.onExit().get(2, TimeUnit.SECONDS);
        assertFalse(Files.exists(file.getParent()));
    }

    @Test
    void aProcessThatSaysTheWrongThingIsRefused() {
        HelperLink link = new HelperLink(folder -> List.of("/bin/sh", "-c", "exec cat"), hello -> {
            throw new dev.torchane.TorchAneException(
                    "not you: " + hello.get("op").asText());
        });
        link.use();
        assertEquals(
                "not you: hello",
                assertThrows(dev.torchane.TorchAneException.class, link::generation)
                        .getMessage());
        link.release();
    }

    @Test
    void numbersAreNeverGivenTwice() {
        HelperLink link = echo();
        assertNotEquals(link.number(), link.number());
        link.release();
    }
}
