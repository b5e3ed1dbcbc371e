package dev.torchane.engine.coreml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.engine.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

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

    /** Tensors with which the packages of a folder are called when they are read, where coremltools can compute what they give. */
    static void inputs(Path folder, Map<String, Tensor> inputs) throws IOException {
        Map<String, Object> given = new LinkedHashMap<>();
        inputs.forEach((name, tensor) -> given.put(name, tensor.toFloats()));
        new ObjectMapper().writeValue(folder.resolve("inputs.json").toFile(), given);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
