package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.build.ChunkLimits;
import dev.torchane.host.ChunkPlanner.Span;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChunkPlannerTest {

    private static final long MEGABYTE = 1_000_000;

    @Test
    void theLayersOfALargeModelAreDividedIntoTheFewestChunksAndThoseEvenly() {
        ChunkPlanner planner = new ChunkPlanner(ChunkLimits.defaults());
        long[] layers = filled(40, 313 * MEGABYTE); // 6 fit into 2 GB
        assertEquals(List.of(6, 6, 6, 6, 6, 6, 4), counts(planner.layers(layers, _ -> 0)));
        assertEquals(List.of(20, 20), counts(planner.layers(filled(40, MEGABYTE), _ -> 0)));
    }

    @Test
    void operationsAndLayersLimitAChunkAsBytesDo() {
        ChunkLimits limits = ChunkLimits.defaults();
        assertEquals(
                List.of(2, 2, 2), counts(new ChunkPlanner(limits.withOperations(250)).layers(filled(6, 1), _ -> 121)));
        assertEquals(List.of(3, 3, 1), counts(new ChunkPlanner(limits.withLayers(3)).layers(filled(7, 1), _ -> 121)));
    }

    @Test
    void layersOfUnequalSizeStayInTheirOrderWithinTheLimit() {
        long[] layers = {5, 1, 1, 5, 5, 1};
        List<Span> spans = new ChunkPlanner(ChunkLimits.defaults().withBytes(7)).layers(layers, _ -> 0);
        assertEquals(List.of(new Span(0, 2), new Span(2, 2), new Span(4, 2)), spans);
    }

    @Test
    void aLayerBeyondALimitIsNamedWithWhatToDo() {
        ChunkPlanner planner = new ChunkPlanner(ChunkLimits.defaults().withBytes(100));
        String message = assertThrows(TorchAneException.class, () -> planner.layers(new long[] {90, 101}, _ -> 0))
                .getMessage();
        assertTrue(message.startsWith("layer 1 has 101 bytes of weights, the limit of a program is 100"), message);
        assertTrue(message.contains("choose a smaller encoding"), message);
    }

    @Test
    void aHeadThatIsTooLargeIsDividedAlongTheVocabulary() {
        ChunkPlanner planner = new ChunkPlanner(ChunkLimits.defaults().withBytes(300 * MEGABYTE));
        List<Span> whole = planner.head(32_000, 163 * MEGABYTE);
        assertEquals(List.of(new Span(0, 32_000)), whole);

        List<Span> parts = planner.head(131_072, 671 * MEGABYTE);
        assertEquals(List.of(43_712, 43_712, 43_648), counts(parts));
        for (Span part : parts) {
            assertTrue(671 * MEGABYTE * part.count() / 131_072 <= 300 * MEGABYTE, part.toString());
        }
    }

    @Test
    void theVocabularyNeedNotBeAMultipleOfAnything() {
        List<Span> parts = new ChunkPlanner(ChunkLimits.defaults().withBytes(1000)).head(151, 1500);
        assertEquals(List.of(new Span(0, 64), new Span(64, 64), new Span(128, 23)), parts);
    }

    private static List<Integer> counts(List<Span> spans) {
        return spans.stream().map(Span::count).toList();
    }

    private static long[] filled(int count, long value) {
        long[] all = new long[count];
        Arrays.fill(all, value);
        return all;
    }
}
