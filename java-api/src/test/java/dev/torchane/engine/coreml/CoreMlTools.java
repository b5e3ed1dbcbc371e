package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Apple's coremltools, in a CPython that {@value #VARIABLE} names. */
final class CoreMlTools {

    static final String VARIABLE = "TORCH_ANE_COREML_PYTHON";

    private CoreMlTools() {}

    /** What coremltools reads in each package of a folder, by name without its ending. */
    static JsonNode read(Path folder) throws IOException, InterruptedException {
        String python = System.getenv(VARIABLE);
        assumeTrue(python != null, "set " + VARIABLE + " to a CPython that has coremltools to run this test");
        Path script = folder.resolve("read_packages.py");
        Path answer = folder.resolve("answer.json");
        Path log = folder.resolve("coremltools.log");
        try (InputStream source = CoreMlTools.class.getResourceAsStream("/coreml/read_packages.py")) {
            Files.write(script, source.readAllBytes());
        }
        Process process = new ProcessBuilder(python, script.toString(), folder.toString(), answer.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertEquals(0, process.waitFor(), () -> "coremltools: " + text(log));
        return new ObjectMapper().readTree(answer.toFile());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
