package dev.torchane.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a log or a pipe sees of a long command. */
class ProgressTest {

    @Test
    void aStageIsALineWhenItBeginsAndOneWhenItEnds() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ConsoleProgress progress =
                new ConsoleProgress(new PrintStream(bytes, true, StandardCharsets.UTF_8), false)) {
            progress.stage("trace", 0, "");
            assertEquals(List.of("  trace ..."), lines(bytes));
            progress.stage("weights", 100, "layers");
            progress.done(50);
        }

        List<String> lines = lines(bytes);
        assertEquals(4, lines.size());
        assertTrue(lines.get(1).matches("  trace +\\d+\\.\\d s"), lines.get(1));
        assertEquals("  weights ...", lines.get(2));
        assertTrue(lines.get(3).matches("  weights +\\d+\\.\\d s"), lines.get(3));
    }

    @Test
    void theRestIsExpectedToGoOnAtTheSamePace() {
        assertEquals(
                "  weights: 25 %, about 30 s left", ConsoleProgress.remaining("weights", 50, 200, 10_000_000_000L));
    }

    private static List<String> lines(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
