package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PythonSettingsTest {

    @TempDir
    Path folder;

    @Test
    void packagesAreFoundInAPathWithSpaces() throws IOException {
        Path venv = folder.resolve("my environment");
        Path packages = Files.createDirectories(venv.resolve("lib/python3.12/site-packages"));

        assertEquals(packages, new PythonSettings(venv, folder).sitePackages());
    }

    @Test
    void anEnvironmentInsideAnArchiveIsRefused() throws IOException {
        URI archive = URI.create("jar:" + folder.resolve("venv.zip").toUri());
        try (FileSystem virtual = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Path venv = Files.createDirectories(virtual.getPath("/venv/lib/python3.12/site-packages"))
                    .getRoot()
                    .resolve("venv");

            TorchAneException e =
                    assertThrows(TorchAneException.class, () -> new PythonSettings(venv, folder).sitePackages());
            assertTrue(e.getMessage().contains("native libraries load from real directories only"), e.getMessage());
        }
    }

    @Test
    void anAbsentEnvironmentIsNamedWithItsRemedy() {
        TorchAneException e = assertThrows(
                TorchAneException.class, () -> new PythonSettings(folder.resolve("absent"), folder).sitePackages());

        assertTrue(e.getMessage().contains("absent"), e.getMessage());
        assertTrue(e.getMessage().contains("./torch-ane venv"), e.getMessage());
    }

    @Test
    void aDirectoryThatIsNoEnvironmentIsRefused() {
        TorchAneException e =
                assertThrows(TorchAneException.class, () -> new PythonSettings(folder, folder).sitePackages());

        assertTrue(e.getMessage().contains("no lib/python3.*/site-packages"), e.getMessage());
    }
}
