package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.acceptance.JavaProcess;
import dev.torchane.build.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    void anEnvironmentInAPathWithSpacesWorks(@TempDir Path folder) throws Exception {
        Path venv = PythonSettings.locate(Progress.none()).venv();
        Path spaced = Files.createSymbolicLink(
                Files.createDirectory(folder.resolve("with a space")).resolve("the environment"), venv);
        JavaProcess process = run(spaced, "alone");

        assertEquals("sum 10.0", process.out().strip(), process.toString());
        assertEquals(0, process.exitCode(), process.toString());
    }

    private static JavaProcess run(Path venv, String what) throws IOException, InterruptedException {
        return JavaProcess.run(
                JavaProcess.classPath(_ -> true),
                List.of("-D" + PythonSettings.VENV + "=" + venv),
                HostInItsOwnProcess.class.getName(),
                what);
    }
}
