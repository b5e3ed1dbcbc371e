package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.ChunkedCausalLM;
import dev.torchane.ChunkedOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.build.ChunkLimits;
import dev.torchane.build.Progress;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.program.Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tiny checkpoint in chunks through the public API, against torch. */
class ChunkedExportTest {

    private static final int[] PROMPT = TinyModel.prompt();

    @TempDir
    Path folder;

    @Test
    void aModelInChunksThatDoNotStayInMemoryAnswersAsTorchAndItsInterruptedBuildGoesOn() throws IOException {
        Path checkpoint = TinyModel.GEMMA3.write(folder.resolve("gemma"), 31);
        ChunkedOptions options = options(Progress.none());
        IllegalStateException stop = new IllegalStateException("stopped");
        Progress interrupted = new Progress() {
            private long weights;
            private boolean writing;

            @Override
            public void stage(String stage, long total, String unit) {
                writing = stage.equals("write chunks");
            }

            @Override
            public void done(long units) {
                weights += writing ? 1 : 0;
                if (weights == 40) { // 26 in the first chunk, as many in the second
                    throw stop;
                }
            }
        };
        assertEquals(
                stop,
                assertThrows(
                        IllegalStateException.class, () -> ChunkedCausalLM.build(checkpoint, options(interrupted))));
        Path first = only(folder.resolve("cache/models"), ".chunks").resolve("chunks/00/manifest.json");
        FileTime written = Files.getLastModifiedTime(first);

        Path bundle = ChunkedCausalLM.build(checkpoint, options);
        assertEquals(written, Files.getLastModifiedTime(bundle.resolve("chunks/00/manifest.json")));
        assertFalse(Files.exists(first));
        try (Bundle opened = Bundle.open(bundle)) {
            ChunkIndex index = ChunkIndex.read(opened);
            assertEquals(
                    List.of(2, 2),
                    index.chunks().stream().map(ChunkIndex.Part::count).toList());
            assertEquals(128, index.heads().getFirst().count());
            assertEquals(
                    index.chunks().getFirst().operations(),
                    index.chunks().getLast().operations());
        }

        int[] torchs = TinyBundles.eagerGreedy(checkpoint, PROMPT, 8);
        float[] logits = TinyBundles.eager(checkpoint, List.of(PROMPT)).getFirst();
        try (CausalLM lm = ChunkedCausalLM.open(bundle, options.withResidentBytes(1))) {
            assertTrue(TinyBundles.difference(logits, lm.feed(PROMPT)) < 1e-4);
            GenerateOptions eight = GenerateOptions.defaults().withMaxNewTokens(8);
            int[] ids = lm.generate(PROMPT, eight).ids();
            assertArrayEquals(Arrays.copyOf(torchs, ids.length), ids);
        }
    }

    private ChunkedOptions options(Progress progress) {
        CausalLMOptions model = CausalLMOptions.builder()
                .maxLen(64)
                .prefillWindow(16)
                .ladder(32)
                .weights(WeightEncoding.FP32)
                .cache(folder.resolve("cache"))
                .progress(progress)
                .build();
        return ChunkedOptions.of(model).withLimits(ChunkLimits.defaults().withLayers(3));
    }

    private static Path only(Path folder, String suffix) throws IOException {
        try (var list = Files.list(folder)) {
            return list.filter(each -> each.toString().endsWith(suffix))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
