package dev.torchane.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelCacheTest {

    @TempDir
    Path root;

    private ModelCache cache;

    @BeforeEach
    void open() {
        cache = new ModelCache(root);
    }

    private static ModelKey key(String source, String option, String versions) {
        return new ModelKey(source, new TreeMap<>(Map.of("target", option)), versions);
    }

    private static Consumer<Path> writes(String text) {
        return directory -> {
            try {
                Files.writeString(
                        Files.createDirectories(directory.resolve("weights")).resolve("weight.bin"), text);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        };
    }

    @Test
    void an_entry_is_built_once_and_found_again() throws Exception {
        Path built = cache.findOrBuild(key("a", "cpu", "1"), writes("one"));
        Path found = cache.findOrBuild(key("a", "cpu", "1"), directory -> {
            throw new AssertionError("built twice");
        });
        assertEquals(built, found);
        assertEquals("one", Files.readString(found.resolve("weights/weight.bin")));
    }

    @Test
    void source_options_and_versions_each_make_another_entry() {
        ModelKey base = key("a", "cpu", "1");
        for (ModelKey other : List.of(key("b", "cpu", "1"), key("a", "ane", "1"), key("a", "cpu", "2"))) {
            assertNotEquals(base.entry(), other.entry());
        }
    }

    @Test
    void an_entry_of_other_versions_is_found_when_asked_for() {
        Path built = cache.findOrBuild(key("a", "cpu", "1"), writes("one"));
        assertTrue(cache.find(key("a", "cpu", "2")).isEmpty());
        assertEquals(built, cache.findAnyVersion(key("a", "cpu", "unknown")).orElseThrow());
        assertTrue(cache.findAnyVersion(key("a", "ane", "unknown")).isEmpty());
    }

    @Test
    void a_failed_build_leaves_nothing_and_its_error_passes_through() throws Exception {
        IllegalStateException failure = new IllegalStateException("in the middle");
        Exception thrown = assertThrows(
                IllegalStateException.class,
                () -> cache.findOrBuild(key("a", "cpu", "1"), directory -> {
                    writes("half").accept(directory);
                    throw failure;
                }));
        assertEquals(failure, thrown);
        assertEquals(List.of(), cache.entries());
        try (Stream<Path> rest = Files.list(root.resolve("models"))) {
            assertTrue(rest.allMatch(file -> file.toString().endsWith(".lock")));
        }
    }

    @Test
    void what_a_killed_build_left_behind_is_never_loaded_and_is_cleared() throws Exception {
        ModelKey key = key("a", "cpu", "1");
        Path unfinished = root.resolve("models").resolve("." + key.entry() + ".building");
        Files.createDirectories(unfinished);
        Files.writeString(unfinished.resolve("model.mil"), "half");
        assertTrue(cache.find(key).isEmpty());
        Path built = cache.findOrBuild(key, writes("whole"));
        assertFalse(Files.exists(built.resolve("model.mil")));
        assertFalse(Files.exists(unfinished));
    }

    @Test
    void threads_that_want_the_same_entry_build_it_once() throws Exception {
        AtomicInteger builds = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 8; i++) {
                threads.submit(() -> cache.findOrBuild(key("a", "cpu", "1"), directory -> {
                    builds.incrementAndGet();
                    writes("one").accept(directory);
                }));
            }
        }
        assertEquals(1, builds.get());
    }

    @Test
    void an_entry_is_replaced_once_by_all_who_found_it_unusable() throws Exception {
        ModelKey key = key("a", "cpu", "1");
        Path entry = cache.findOrBuild(key, writes("damaged"));
        Object identity = ModelCache.identity(entry);
        AtomicInteger builds = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                threads.submit(() -> cache.replace(key, identity, directory -> {
                    builds.incrementAndGet();
                    writes("whole").accept(directory);
                }));
            }
        }
        assertEquals(1, builds.get());
        assertEquals("whole", Files.readString(entry.resolve("weights/weight.bin")));
        assertNothingElse(entry);
    }

    @Test
    void an_entry_stays_when_what_was_to_replace_it_cannot_be_built() throws Exception {
        ModelKey key = key("a", "cpu", "1");
        Path entry = cache.findOrBuild(key, writes("damaged"));
        assertThrows(
                IllegalStateException.class,
                () -> cache.replace(key, ModelCache.identity(entry), directory -> {
                    writes("half").accept(directory);
                    throw new IllegalStateException("in the middle");
                }));
        assertEquals("damaged", Files.readString(entry.resolve("weights/weight.bin")));
        assertNothingElse(entry);
    }

    private void assertNothingElse(Path entry) throws IOException {
        assertEquals(List.of(entry), cache.entries());
        try (Stream<Path> rest = Files.list(root.resolve("models"))) {
            assertTrue(
                    rest.allMatch(file -> file.equals(entry) || file.toString().endsWith(".lock")));
        }
    }

    @Test
    void pruning_deletes_the_entries_used_longest_ago() throws Exception {
        Path old = cache.findOrBuild(key("a", "cpu", "1"), writes("x".repeat(1000)));
        Path recent = cache.findOrBuild(key("b", "cpu", "1"), writes("x".repeat(1000)));
        Files.setLastModifiedTime(old, java.nio.file.attribute.FileTime.fromMillis(1));
        assertEquals(List.of(old), cache.prune(1500));
        assertEquals(List.of(recent), cache.entries());
    }

    @Test
    void a_full_disk_is_named_as_such() {
        TorchAneException full = ModelCache.storageFailure(root, new IOException("No space left on device"));
        assertTrue(full.getMessage().startsWith("the disk is full: " + root), full.getMessage());
    }

    @Test
    void a_digest_follows_the_content_and_is_remembered() throws Exception {
        Path file = Files.writeString(root.resolve("model.safetensors"), "weights");
        SourceDigest digest = new SourceDigest(root);
        String first = digest.of(List.of(file));
        assertEquals(first, digest.of(List.of(file)));
        assertTrue(Files.readString(root.resolve("digests.json")).contains("model.safetensors"));
        Files.writeString(file, "other weights");
        assertNotEquals(first, digest.of(List.of(file)));
    }

    @Test
    void a_damaged_memory_of_digests_costs_a_second_reading_only() throws Exception {
        Path file = Files.writeString(root.resolve("model.safetensors"), "weights");
        String first = new SourceDigest(root).of(List.of(file));
        Files.writeString(root.resolve("digests.json"), "{ not json");
        assertEquals(first, new SourceDigest(root).of(List.of(file)));
    }

    @Test
    void given_a_cache_that_cannot_be_written_when_a_digest_is_taken_then_it_is_right_and_nothing_is_left()
            throws Exception {
        Path file = Files.writeString(root.resolve("model.safetensors"), "weights");
        String digest = new SourceDigest(root.resolve("writable")).of(List.of(file));
        assertEquals(digest, new SourceDigest(file).of(List.of(file)));
        Path occupied = Files.createDirectories(root.resolve("occupied/digests.json/x"))
                .getParent()
                .getParent();
        assertEquals(digest, new SourceDigest(occupied).of(List.of(file)));
        try (Stream<Path> left = Files.list(occupied)) {
            assertEquals(1, left.count());
        }
    }

    @Test
    void the_cache_folder_follows_the_variable_and_the_system() {
        Path home = Path.of("/home/someone");
        assertEquals(Path.of("/elsewhere"), CacheRoot.locate(Map.of("TORCH_ANE_CACHE", "/elsewhere"), "Linux", home));
        assertEquals(home.resolve(".cache/torch-ane"), CacheRoot.locate(Map.of(), "Linux", home));
        assertEquals(home.resolve("Library/Caches/torch-ane"), CacheRoot.locate(Map.of(), "Mac OS X", home));
    }
}
