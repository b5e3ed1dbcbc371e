package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.acceptance.JavaProcess;
import dev.torchane.build.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts Python in processes of their own, so it is no part of the usual tests. */
@Tag("full")
class OwnProcessTest {

    @Test
    void anotherContextThatLoadedNativesFirstIsNamed() throws Exception {
        Path venv = PythonSettings.locate(Progress.none()).venv();
        JavaProcess process = run(venv, "foreign");

        assertTrue(process.out().contains("refused: another GraalPy context of this process"), process.toString());
        assertEquals(0, process.exitCode(), process.toString());
    }

    @Test
    void aContextOfPurePythonInTheSameProgramLivesBesideTheHost() throws Exception {
        Path venv = PythonSettings.locate(Progress.none()).venv();
        JavaProcess process = run(venv, "beside");

        List<String> lines = process.out().lines().toList();
        assertEquals(List.of("foreign 10", "sum 10.0", "foreign 15"), lines.subList(0, 3), process.toString());
        assertTrue(lines.get(3).startsWith("natives "), process.toString());
        assertEquals("sum 10.0", lines.getLast(), process.toString());
        assertEquals(0, process.exitCode(), process.toString());
    }

    @Test
    void aReadOnlyEnvironmentInAPathWithSpacesWorks(@TempDir Path folder) throws Exception {
        Path venv = PythonSettings.locate(Progress.none()).venv();
        Path spaced = folder.resolve("with a space").resolve("the environment");
        List<Path> directories = linkTree(venv, spaced);
        try {
            directories.forEach(each -> each.toFile().setWritable(false, false));
            JavaProcess process = run(spaced, "alone");

            assertEquals("sum 10.0", process.out().strip(), process.toString());
            assertEquals(0, process.exitCode(), process.toString());
        } finally {
            directories.forEach(each -> each.toFile().setWritable(true));
        }
    }

    /** The same files in directories of their own, which are answered. */
    private static List<Path> linkTree(Path from, Path to) throws IOException {
        List<Path> directories = new ArrayList<>();
        try (Stream<Path> entries = Files.walk(from)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                Path target = to.resolve(from.relativize(entry).toString());
                if (Files.isDirectory(entry)) {
                    directories.add(Files.createDirectories(target));
                } else {
                    link(target, entry);
                }
            }
        }
        return directories;
    }

    private static void link(Path target, Path file) throws IOException {
        try {
            Files.createLink(target, file);
        } catch (IOException | UnsupportedOperationException e) {
            Files.createSymbolicLink(target, file);
        }
    }

    private static JavaProcess run(Path venv, String what) throws IOException, InterruptedException {
        return JavaProcess.run(
                JavaProcess.classPath(_ -> true),
                List.of("-D" + PythonSettings.VENV + "=" + venv),
                HostInItsOwnProcess.class.getName(),
                what);
    }
}
