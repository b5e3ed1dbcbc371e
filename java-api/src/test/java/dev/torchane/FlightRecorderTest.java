package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.build.Progress;
import dev.torchane.testing.TinyBundle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderTest {

    @TempDir
    Path folder;

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("dev.torchane." + name))
                .toList();
    }

    @Test
    void a_recording_has_stages_of_builds_loads_prefills_steps_choices_and_generations() throws IOException {
        Path file = folder.resolve("recording.jfr");
        Path batch = folder.resolve("batch.jfr");
        Path bundle = TinyBundle.write(folder.resolve("bundle"));
        try (Recording recording = new Recording()) {
            for (String name : List.of("BuildStage", "Load", "Prefill", "Step", "Sampling", "Generation")) {
                recording.enable("dev.torchane." + name).withoutThreshold();
            }
            recording.start();
            try (RecordedStages stages = new RecordedStages("tiny", Progress.none())) {
                stages.stage("trace", 0, "");
                stages.stage("lower", 3, "layers");
                stages.done(3);
            }
            try (CausalLM lm = CausalLM.open(bundle, CausalLMOptions.defaults())) {
                lm.generate(new int[] {70, 71, 72}, GenerateOptions.defaults().withMaxNewTokens(4));
            }
            recording.dump(file);
            try (CausalLM lm = CausalLM.open(bundle, CausalLMOptions.defaults())) {
                lm.generateBatch(
                        List.of("hello", "world"), GenerateOptions.defaults().withMaxNewTokens(3));
            }
            recording.dump(batch);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertEquals(
                List.of("trace", "lower"),
                named(events, "BuildStage").stream()
                        .map(event -> event.getString("stage"))
                        .toList());
        assertEquals(bundle.toString(), named(events, "Load").getFirst().getString("bundle"));
        assertEquals(3, named(events, "Prefill").getFirst().getInt("tokens"));
        assertEquals(64, named(events, "Prefill").getFirst().getInt("rung"));
        assertEquals(
                List.of(3, 4, 5),
                named(events, "Step").stream()
                        .map(event -> event.getInt("position"))
                        .toList());
        assertEquals(4, named(events, "Sampling").size());
        RecordedEvent generation = named(events, "Generation").getFirst();
        assertEquals(4, generation.getInt("newTokens"));
        assertEquals("LENGTH", generation.getString("reason"));
        assertTrue(generation.getDuration().toNanos() > 0);
        assertEquals(
                List.of(1, 1, 1, 2, 2),
                named(RecordingFile.readAllEvents(batch), "Step").stream()
                        .map(event -> event.getInt("streams"))
                        .toList());
    }
}
