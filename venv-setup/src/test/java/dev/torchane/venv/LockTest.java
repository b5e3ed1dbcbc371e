package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lock file of this artifact. */
class LockTest {

    private static final Platform LINUX = new Platform("linux_x86_64");

    private final Lock lock = LockFile.own().parsed();

    @Test
    void everyFileIsPinned() {
        var wheels = new ArrayList<>(lock.packages());
        wheels.addAll(lock.house());
        lock.excerpts().forEach(e -> wheels.add(e.wheel()));
        for (Lock.Wheel wheel : wheels) {
            assertTrue(wheel.sha256().matches("[0-9a-f]{64}"), wheel::toString);
            assertTrue(wheel.size() > 0, wheel::toString);
            assertTrue(wheel.file().contains("-" + wheel.version() + "-"), wheel::toString);
        }
        for (Lock.Excerpt excerpt : lock.excerpts()) {
            for (Lock.Member member : excerpt.members()) {
                assertTrue(member.sha256().matches("[0-9a-f]{64}"), member::toString);
                assertTrue(member.compressedSize() > 0 && member.compressedSize() < member.size(), member::toString);
            }
        }
    }

    @Test
    void whatModelsNeedIsThereInTheVersionsThatWorkTogether() {
        var versions = lock.versions(LINUX);

        assertEquals("2.6.0", versions.get("torch"));
        assertEquals("5.24.0", versions.get("transformers"));
        assertTrue(versions.keySet().containsAll(List.of("numpy", "safetensors", "tokenizers", "regex")));
    }

    @Test
    void torchsLargeLibrariesComeFromTheIndex() {
        var members = lock.excerpts(LINUX).getFirst().members().stream()
                .map(Lock.Member::path)
                .toList();

        assertEquals(
                List.of(
                        "torch/lib/libtorch_cpu.so",
                        "torch/lib/libc10.so",
                        "torch/lib/libshm.so",
                        "torch/lib/libgomp-a34b3233.so.1"),
                members);
    }

    @Test
    void whatIsLeftOutIsNotThereAndSaysWhy() {
        var names = new HashSet<String>();
        lock.versions(LINUX).keySet().forEach(name -> names.add(PackageIndex.normalized(name)));
        for (Lock.Absent absent : lock.leftOut()) {
            assertTrue(!names.contains(absent.name()) && !absent.why().isBlank(), absent::toString);
        }
        assertTrue(lock.leftOut().stream().anyMatch(a -> a.name().equals("hf-xet")));
    }

    @Test
    void noRegistrysAddressStandsInIt() {
        String text = new String(LockFile.own().bytes(), StandardCharsets.UTF_8);

        assertTrue(!text.contains("://"));
    }

    @Test
    void itKnowsTheWheelsOfTheWheelhouse() throws IOException {
        Path wheelhouse = Path.of("wheelhouse");
        assumeTrue(Files.isDirectory(wheelhouse), "no wheels were built yet");
        var found = new ArrayList<String>();
        try (var wheels = Files.newDirectoryStream(wheelhouse, "*.whl")) {
            for (Path wheel : wheels) {
                found.add(wheel.getFileName() + " " + Hashes.of(wheel));
            }
        }
        found.sort(null);
        assertEquals(
                lock.house().stream()
                        .map(w -> w.file() + " " + w.sha256())
                        .sorted()
                        .toList(),
                found,
                "run venv-setup/relock.sh");
    }

    @Test
    void anotherFormatIsRefused() {
        String text =
                new String(LockFile.own().bytes(), StandardCharsets.UTF_8).replace("\"format\" : 1", "\"format\" : 9");

        var e = assertThrows(VenvException.class, () -> new LockFile(text.getBytes(StandardCharsets.UTF_8)).parsed());

        assertTrue(e.getMessage().contains("format 9"), e.getMessage());
    }
}
