package dev.torchane.llm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.engine.StateStorage;
import dev.torchane.llm.SavedStateException.Reason;
import dev.torchane.program.DType;
import dev.torchane.testing.TinyTransformer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are damaged, or that belong to something else. */
class SavedStateTest {

    private static final SortedMap<String, String> FINGERPRINT =
            new TreeMap<>(Map.of("model", "sha256:12", "weights", "int8"));

    @TempDir
    Path folder;

    private OpenedModel opened;
    private Path file;

    @BeforeEach
    void save() {
        opened = OpenedModel.open(TinyTransformer.standard().write(folder.resolve("bundle")));
        file = folder.resolve("conversations/one.state");
        save(opened, 40, new byte[100]);
    }

    @AfterEach
    void close() {
        opened.close();
    }

    private void save(OpenedModel model, int tokens, byte[] attachment) {
        try (KvState state = model.model().newState()) {
            int[] ids = new int[tokens];
            Arrays.setAll(ids, i -> 3 + i);
            model.model().feed(state, ids, _ -> {});
            state.save(file, FINGERPRINT, attachment);
        }
    }

    private SavedStateException refused(OpenedModel model, SortedMap<String, String> fingerprint) {
        SavedStateException e =
                assertThrows(SavedStateException.class, () -> model.model().restore(file, fingerprint));
        assertTrue(e.getMessage().contains(file.toString()), e.getMessage());
        return e;
    }

    private Reason reason() {
        return refused(opened, FINGERPRINT).reason();
    }

    @Test
    void aFileCutAtAnyPlaceIsRefused() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 200; round++) {
            int size = round < 60 ? round : random.nextInt(whole.length);
            Files.write(file, Arrays.copyOf(whole, size));
            assertEquals(size == 0 ? Reason.NOT_A_STATE : Reason.DAMAGED, reason(), size + " bytes");
        }
    }

    @Test
    void aFileWithAnyChangedOrAddedByteIsRefused() throws IOException {
        byte[] whole = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(2);
        for (int round = 0; round < 200; round++) {
            byte[] damaged = whole.clone();
            int place = round < 60 ? round : random.nextInt(whole.length);
            damaged[place] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            Reason expected = place < 8 ? Reason.NOT_A_STATE : place < 12 ? Reason.OTHER_FORMAT : Reason.DAMAGED;
            assertEquals(expected, reason(), "byte " + place);
        }
        Files.write(file, Arrays.copyOf(whole, whole.length + 1));
        assertEquals(Reason.DAMAGED, reason());
    }

    @Test
    void anotherModelAnotherBuildAndAnotherLayoutAreNamed() {
        SortedMap<String, String> other = new TreeMap<>(FINGERPRINT);
        other.put("weights", "lut4");
        SavedStateException e = refused(opened, other);
        assertEquals(Reason.OTHER_MODEL, e.reason());
        assertTrue(e.getMessage().contains("weights is int8 in the file, lut4 in this model"), e.getMessage());

        TinyTransformer halves = TinyTransformer.standard().withStates(DType.FP16);
        try (OpenedModel narrow = OpenedModel.open(halves.write(folder.resolve("halves")))) {
            SavedStateException layout = refused(narrow, FINGERPRINT);
            assertEquals(Reason.OTHER_MODEL, layout.reason());
            assertTrue(layout.getMessage().contains("state key_cache is fp32 2 1 2 · 8"), layout.getMessage());
        }
    }

    @Test
    void keysAndValuesThatAreKeptOtherwiseAreRefused() {
        Path bundle = folder.resolve("bundle");
        try (OpenedModel rows = OpenedModel.open(bundle, StateStorage.INT8);
                OpenedModel halves = OpenedModel.open(bundle, StateStorage.FP16)) {
            SavedStateException fromFp32 = refused(rows, FINGERPRINT);
            assertEquals(Reason.OTHER_MODEL, fromFp32.reason());
            assertTrue(
                    fromFp32.getMessage()
                            .contains("key_cache is fp32 2 1 2 · 8 in the file, int8 2 1 2 · 12 in this model"),
                    fromFp32.getMessage());
            save(rows, 40, new byte[0]);
            assertEquals(Reason.OTHER_MODEL, refused(halves, FINGERPRINT).reason());
            assertEquals(Reason.OTHER_MODEL, reason());
            rows.model().restore(file, FINGERPRINT).state().close();
        }
    }

    @Test
    void aBuildWithOtherRungsRestoresItUnlessItsContextIsTooShort() {
        TinyTransformer longer = TinyTransformer.standard().withLadder(200, 48, 200);
        try (OpenedModel other = OpenedModel.open(longer.write(folder.resolve("longer")));
                KvState state = other.model().restore(file, FINGERPRINT).state()) {
            assertEquals(40, state.position());
            assertEquals(48, state.capacity());
        }
        TinyTransformer shorter = TinyTransformer.standard().withLadder(32, 32);
        try (OpenedModel other = OpenedModel.open(shorter.write(folder.resolve("shorter")))) {
            SavedStateException e = refused(other, FINGERPRINT);
            assertEquals(Reason.TOO_LONG, e.reason());
            assertTrue(e.getMessage().contains("40 tokens") && e.getMessage().contains("maxLen 32"), e.getMessage());
        }
    }

    @Test
    void anEmptyStateAndAnAbsentFile() throws IOException {
        try (KvState empty = opened.model().newState()) {
            empty.save(file, FINGERPRINT, new byte[0]);
        }
        try (KvState state = opened.model().restore(file, FINGERPRINT).state()) {
            assertEquals(0, state.position());
        }
        Files.delete(file);
        assertEquals(Reason.UNREADABLE, reason());
        Files.createDirectory(file);
        assertEquals(Reason.UNREADABLE, reason());
    }

    @Test
    void linksAreFollowedAndWhatIsNoFileIsNotReplaced() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        try (KvState empty = opened.model().newState()) {
            empty.save(link, FINGERPRINT, new byte[0]);
            assertTrue(Files.isSymbolicLink(link));
            for (Path wrong : List.of(file.getParent(), Path.of("/"), Path.of(""))) {
                TorchAneException e =
                        assertThrows(TorchAneException.class, () -> empty.save(wrong, FINGERPRINT, new byte[0]));
                assertTrue(e.getMessage().contains("give the name of a file"), e.getMessage());
            }
            Path longest = folder.resolve("n".repeat(250));
            empty.save(longest, FINGERPRINT, new byte[0]);
            assertTrue(Files.isRegularFile(longest));
        }
        try (KvState state = opened.model().restore(file, FINGERPRINT).state()) {
            assertEquals(0, state.position(), "the file behind the link is the new one");
        }
    }

    @Test
    void savingOverAFileReplacesItWholeAndAFailureLeavesItAndNothingElse() throws IOException {
        byte[] before = Files.readAllBytes(file);
        KvState closed = opened.model().newState();
        closed.close();
        assertThrows(IllegalStateException.class, () -> closed.save(file, FINGERPRINT, new byte[0]));
        assertArrayEquals(before, Files.readAllBytes(file));
        save(opened, 3, new byte[0]);
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertEquals(List.of(file), files.toList());
        }
        Path below = file.resolve("no-folder");
        try (KvState state = opened.model().newState()) {
            assertThrows(TorchAneException.class, () -> state.save(below, FINGERPRINT, new byte[0]));
        }
    }
}
