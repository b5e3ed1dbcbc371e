package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PythonSourcesTest {

    @TempDir
    Path cache;

    @Test
    void thePackageIsUnpackedOnceForItsContent() throws IOException {
        Path first = PythonSources.unpack(cache);
        Path marker = Files.createFile(first.resolve("kept"));

        assertEquals(first, PythonSources.unpack(cache));
        assertTrue(Files.exists(marker));
        try (Stream<Path> entries = Files.list(cache)) {
            assertEquals(1, entries.count(), "nothing partial is left behind");
        }
    }

    @Test
    void everyFileArrivesWhole() throws IOException {
        Path directory = PythonSources.unpack(cache);

        for (var file : PythonSources.files().entrySet()) {
            assertArrayEquals(file.getValue(), Files.readAllBytes(directory.resolve(file.getKey())));
        }
        assertTrue(PythonSources.files().containsKey("torch_ane/sinks.py"));
    }
}
