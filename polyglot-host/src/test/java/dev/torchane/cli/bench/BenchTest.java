package dev.torchane.cli.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a benchmark makes of its figures, and how it talks to those it measures. */
class BenchTest {

    private static final Set<Work> ALL = Set.of(Work.values());
    private static final Contender OURS = new Contender("torch-ane int4", true, ALL, List.of());
    private static final Contender LLAMA = new Contender("llama.cpp Q4_1", false, ALL, List.of());

    @TempDir
    private Path folder;

    @Test
    void ratiosAreOfMediansAndAboveOneWhenWeAreBetter() {
        Results results = new Results();
        for (double figure : new double[] {90, 300, 110}) {
            results.add(Work.DECODE_1_Q4, OURS, figure);
        }
        results.add(Work.DECODE_1_Q4, LLAMA, 50);
        results.add(Work.START_Q4, OURS, 2);
        results.add(Work.START_Q4, LLAMA, 0.5);

        List<Results.Row> rows = results.rows();

        assertEquals(List.of(2.2, 0.25), rows.stream().map(Results.Row::ratio).toList());
        assertTrue(rows.get(0).reached());
        assertFalse(rows.get(1).reached());
    }

    @Test
    void aPeerThatFailedLeavesNoRow() {
        Results results = new Results();
        results.add(Work.PREFILL_512_Q4, OURS, 700);

        assertEquals(List.of(), results.rows());
    }

    @Test
    void theFilesHaveARowForEachPeerAndThePageNeedsNoOther() throws IOException {
        Results results = new Results();
        results.add(Work.DECODE_1_Q4, OURS, 100);
        results.add(Work.DECODE_1_Q4, LLAMA, 50);
        new Report(results, "a machine <here>", Map.of("llama.cpp Q4_1", "1.0"), Map.of("Jlama", "no"), List.of())
                .write(folder);

        JsonNode row = new ObjectMapper()
                .readTree(folder.resolve("latest.json").toFile())
                .get(0);
        assertEquals("decode-1-q4", row.get("work").asText());
        assertEquals(2.0, row.get("ratio").asDouble());
        assertEquals(7, row.size());
        assertEquals(3, Files.readAllLines(folder.resolve("latest.csv")).size());
        String page = Files.readString(folder.resolve("latest.html"));
        assertTrue(page.contains("<svg") && page.contains("a machine &lt;here>"), page);
        assertFalse(page.contains("http") || page.contains("<script"), page);
    }

    @Test
    void everyWorkAsksForTheSameIds() {
        int[] text = IntStream.range(0, 4096).toArray();
        JsonNode batch = Work.DECODE_8_Q4.request(text, new int[] {1});

        assertEquals(8, batch.get("prompts").size());
        assertEquals(32, batch.get("prompts").get(1).get(0).asInt());
        assertEquals(512, Work.PREFILL_512_Q4.request(text, text).get("prompt").size());
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void aWorkerThatRefusesOrEndsIsSkippedWithItsReason() {
        Map<String, String> skipped = new LinkedHashMap<>();
        int[] ids = new int[4096];
        Contender refusing = fake("refusing", "echo '{\"error\": \"too long\"}'; read line");
        Contender ending = fake("ending", "echo '{\"tokens\": 10, \"seconds\": 2}'");

        Round round = new Round(Set.of(Work.DECODE_1_Q4), new Prompts(ids, ids), skipped);
        Results results = round.run(List.of(refusing, ending), 1, folder, known -> {});

        assertEquals(Set.of("refusing", "ending"), round.versions().keySet());
        assertEquals("too long", skipped.get("refusing at decode-1-q4"));
        assertTrue(skipped.get("ending at decode-1-q4").startsWith("ending has ended"));
        assertEquals(Map.of(), results.of(Work.DECODE_1_Q4));
    }

    private static Contender fake(String name, String afterFirstRequest) {
        String script = "echo '{\"ready\": \"1\"}'; read line; " + afterFirstRequest;
        return new Contender(name, false, ALL, List.of("sh", "-c", script));
    }

    @Test
    void aWorkThatIsNotKnownIsAnsweredWithThoseThatAre() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Work.of("decode"))
                .getMessage()
                .contains("decode-1-q4"));
        assertThrows(
                TorchAneException.class,
                () -> new Worker(new Contender("absent", false, ALL, List.of("/nowhere/python")), folder.resolve("log"))
                        .close());
    }
}
