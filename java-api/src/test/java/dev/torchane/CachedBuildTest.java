package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.Exporter;
import dev.torchane.build.Progress;
import dev.torchane.program.Bundle;
import dev.torchane.testing.TinyTransformer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is opened of a checkpoint: built once, and once more when the cache's copy is damaged. */
class CachedBuildTest {

    private static final int[] PROMPT = {3, 4, 5};
    private static final GenerateOptions EIGHT = GenerateOptions.defaults().withMaxNewTokens(8);

    @TempDir
    Path folder;

    private final Building exporter = new Building();
    private Path checkpoint;
    private CausalLMOptions options;

    /** Writes a bundle that needs no Python, or one that lacks its weights. */
    private static final class Building implements Exporter {

        private int builds;
        private boolean damaging;

        @Override
        public String version() {
            return "1";
        }

        @Override
        public void exportCausalLM(Path checkpoint, BuildOptions options, Path directory, Progress progress) {
            builds++;
            TinyTransformer.standard().write(directory);
            if (damaging) {
                damage(directory.resolve(Bundle.WEIGHTS));
            }
        }
    }

    private static void damage(Path file) {
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.setLength(opened.length() / 2);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void writeCheckpoint() throws IOException {
        checkpoint = Files.writeString(folder.resolve("checkpoint"), "weights");
        options = CausalLMOptions.builder().cache(folder.resolve("cache")).build();
    }

    private CachedBuild cached(Optional<Exporter> builder) {
        return new CachedBuild(
                "a checkpoint",
                folder.resolve("cache"),
                List.of(checkpoint),
                new TreeMap<>(Map.of("weights", "fp32")),
                builder,
                (each, directory) -> each.exportCausalLM(checkpoint, options.build(), directory, Progress.none()));
    }

    private CausalLM open() {
        return cached(Optional.of(exporter)).open(bundle -> CausalLM.open(bundle, options));
    }

    @ParameterizedTest
    @ValueSource(strings = {Bundle.WEIGHTS, Bundle.PROGRAM, Bundle.MANIFEST, "tokenizer.json"})
    void a_damaged_entry_is_built_once_more_and_is_whole_for_the_next_one(String file) {
        int[] expected;
        Path entry;
        try (CausalLM lm = open()) {
            entry = lm.bundle();
            expected = lm.generate(PROMPT, EIGHT).ids();
        }
        damage(entry.resolve(file));
        for (int opened = 0; opened < 2; opened++) {
            try (CausalLM lm = open()) {
                assertEquals(entry, lm.bundle());
                assertArrayEquals(expected, lm.generate(PROMPT, EIGHT).ids());
            }
        }
        assertEquals(2, exporter.builds);
    }

    @Test
    void an_entry_that_lacks_a_file_is_built_once_more() throws IOException {
        open().close();
        Path entry = cached(Optional.of(exporter)).entry();
        Files.delete(entry.resolve(Bundle.PROGRAM));
        open().close();
        assertEquals(2, exporter.builds);
    }

    @Test
    void what_cannot_be_opened_when_it_has_just_been_built_is_an_error() {
        open().close();
        damage(cached(Optional.of(exporter)).entry().resolve(Bundle.WEIGHTS));
        exporter.damaging = true;
        TorchAneException again = assertThrows(TorchAneException.class, this::open);
        assertTrue(again.getMessage().contains(Bundle.WEIGHTS), again.getMessage());
        assertEquals(2, exporter.builds, "once more, and not again");
        assertEquals(1, again.getSuppressed().length, "with what was wrong before");
    }

    @Test
    void without_what_builds_the_entry_is_refused_and_stays() {
        open().close();
        Path entry = cached(Optional.of(exporter)).entry();
        damage(entry.resolve(Bundle.WEIGHTS));
        CachedBuild reading = cached(Optional.empty());
        TorchAneException refusal =
                assertThrows(TorchAneException.class, () -> reading.open(bundle -> CausalLM.open(bundle, options)));
        assertTrue(refusal.getMessage().contains(Bundle.WEIGHTS), refusal.getMessage());
        assertEquals(entry, reading.entry());
    }

    @Test
    void what_is_not_built_and_cannot_be_names_what_is_missing() {
        TorchAneException e = assertThrows(
                TorchAneException.class, () -> cached(Optional.empty()).entry());
        assertTrue(e.getMessage().contains("torch-ane-polyglot-host"), e.getMessage());
    }

    @Test
    void an_error_that_is_not_of_the_bundle_does_not_build() {
        open().close();
        IllegalStateException own = new IllegalStateException("of the caller");
        assertSame(
                own,
                assertThrows(
                        IllegalStateException.class,
                        () -> cached(Optional.of(exporter)).open(bundle -> {
                            throw own;
                        })));
        assertEquals(1, exporter.builds);
    }
}
