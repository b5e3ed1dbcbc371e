package dev.torchane.engine.chunks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.ChunkedCausalLM;
import dev.torchane.ChunkedOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Session;
import dev.torchane.TorchAneException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model in three chunks and a head in two parts is the same model in one program. */
class ChunkedProgramTest {

    private static final int[] PROMPT = {3, 14, 15, 9, 2, 6, 5, 35, 8, 9, 7, 9, 32, 38, 4, 6, 26, 4, 3, 38};
    private static final GenerateOptions TWELVE = GenerateOptions.defaults().withMaxNewTokens(12);

    @TempDir
    Path folder;

    private TinyChunks model;

    @BeforeEach
    void write() {
        model = TinyChunks.write(folder);
    }

    @Test
    void logitsAreTheSameBitsWhetherChunksStayInMemoryOrAreReadAnew() {
        try (CausalLM one = CausalLM.open(model.whole(), CausalLMOptions.defaults());
                CausalLM staying = CausalLM.open(model.chunks(), CausalLMOptions.defaults());
                CausalLM reading = open(1)) {
            float[] expected = one.feed(PROMPT);
            assertArrayEquals(expected, staying.feed(PROMPT));
            assertArrayEquals(expected, reading.feed(PROMPT));
            assertArrayEquals(one.feed(7), reading.feed(7));
        }
    }

    @Test
    void generationsClimbTheLadderAsInOneProgram() {
        int[] ids = new int[] {1, 2, 3};
        GenerateOptions forty = GenerateOptions.defaults().withMaxNewTokens(40);
        try (CausalLM one = CausalLM.open(model.whole(), CausalLMOptions.defaults());
                CausalLM chunks = open(1)) {
            assertArrayEquals(
                    one.generate(ids, forty).ids(), chunks.generate(ids, forty).ids());
        }
    }

    @Test
    void batchesAndSessionsNeedNotKnow() {
        try (CausalLM one = CausalLM.open(model.whole(), CausalLMOptions.defaults());
                CausalLM chunks = CausalLM.open(model.chunks(), CausalLMOptions.defaults())) {
            List<String> prompts = List.of("hello world", "hello", "world world hello");
            GenerateOptions raw = TWELVE.withRaw(true);
            List<int[]> expected = one.generateBatch(prompts, raw).stream()
                    .map(each -> each.ids())
                    .toList();
            List<int[]> found = chunks.generateBatch(prompts, raw).stream()
                    .map(each -> each.ids())
                    .toList();
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), found.get(i));
            }
            try (Session session = chunks.newSession();
                    Session other = one.newSession()) {
                assertArrayEquals(
                        other.generate(PROMPT, TWELVE).ids(),
                        session.generate(PROMPT, TWELVE).ids());
                Path saved = folder.resolve("saved");
                session.save(saved);
                try (Session restored = chunks.restoreSession(saved)) {
                    assertArrayEquals(
                            other.generate(new int[] {5, 6}, TWELVE).ids(),
                            restored.generate(new int[] {5, 6}, TWELVE).ids());
                }
            }
        }
    }

    @Test
    void aMissingProgramIsNamed() throws Exception {
        Path manifest = model.chunks().resolve("chunks/01/manifest.json");
        Files.delete(manifest);
        String message = assertThrows(TorchAneException.class, () -> open(0)).getMessage();
        assertTrue(message.contains("lacks the program chunks/01"), message);
    }

    @Test
    void anIndexThatDoesNotReachTheLastLayerIsRefused() throws Exception {
        Path index = model.chunks().resolve(ChunkIndex.FILE);
        Files.writeString(index, Files.readString(index).replaceFirst("\"count\" : 1", "\"count\" : 2"));
        String message = assertThrows(TorchAneException.class, () -> open(0)).getMessage();
        assertTrue(message.contains("expected layers from 2 on"), message);
    }

    @Test
    void afterCloseItIsClosed() {
        CausalLM chunks = open(1);
        chunks.feed(PROMPT);
        chunks.close();
        assertEquals(
                IllegalStateException.class,
                assertThrows(RuntimeException.class, () -> chunks.feed(1)).getClass());
    }

    private CausalLM open(long resident) {
        return ChunkedCausalLM.open(model.chunks(), ChunkedOptions.defaults().withResidentBytes(resident));
    }
}
