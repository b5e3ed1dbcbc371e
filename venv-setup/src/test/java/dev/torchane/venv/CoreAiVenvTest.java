package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Which CPython is taken, and what is left when something fails; scripts stand for interpreters. */
@DisabledOnOs(OS.WINDOWS)
class CoreAiVenvTest {

    private static final InstallProgress SILENT = new InstallProgress() {
        @Override
        public void stage(String stage, long total, String unit) {}

        @Override
        public void done(long units) {}
    };

    @TempDir
    private Path folder;

    /** A script that says a version when asked for it, and copies itself where a venv is wanted. */
    private Path python(String name, String says, String pip) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, """
                #!/bin/sh
                case "$1 $2" in
                "-c import sys"*) echo %s ;;
                "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
                "-m pip") echo "$*" > "$0.pip"; %s ;;
                esac
                """.formatted(says, pip));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path install(Optional<Path> named) {
        return new CoreAiVenv(List.of(folder)).install(folder.resolve("home"), "9.9", named, SILENT);
    }

    @Test
    void theNewestOnPathThatStartsIsTaken() throws IOException {
        python("python3.14", "cpython 3 14; exit 1", "true");
        python("python3.12", "cpython 3 12", "true");
        python("python3.11", "cpython 3 11", "true");
        Path made = install(Optional.empty());
        assertEquals(folder.resolve("home/bin/python"), made);
        assertEquals(Files.readString(folder.resolve("python3.12")), Files.readString(made));
        assertTrue(Files.readString(folder.resolve("home/bin/python.pip")).contains("coreai-core==9.9"));
        assertEquals(made, install(Optional.empty()));
    }

    @Test
    void anotherPythonIsRefusedByName() throws IOException {
        for (String says : List.of("cpython 3 10", "graalpy 3 12", "cpython 3 15", "nothing")) {
            Path python = python("other", says, "true");
            VenvException refused = assertThrows(VenvException.class, () -> install(Optional.of(python)));
            assertEquals(python + " is " + says + "; Core AI needs a CPython 3.11 to 3.14", refused.getMessage());
        }
    }

    @Test
    void withoutOneTheMessageSaysWhatToDo() {
        VenvException refused = assertThrows(VenvException.class, () -> install(Optional.empty()));
        assertTrue(refused.getMessage().contains("--python"), refused.getMessage());
    }

    @Test
    void whatPipSaysIsTheMessageAndNothingIsLeft() throws IOException {
        python("python3.13", "cpython 3 13", "echo no such version; exit 1");
        VenvException refused = assertThrows(VenvException.class, () -> install(Optional.empty()));
        assertTrue(refused.getMessage().contains("no such version"), refused.getMessage());
        assertFalse(Files.exists(folder.resolve("home")));
        try (var files = Files.list(folder)) {
            assertEquals(
                    List.of("python3.13"),
                    files.map(file -> file.getFileName().toString()).toList());
        }
    }
}
