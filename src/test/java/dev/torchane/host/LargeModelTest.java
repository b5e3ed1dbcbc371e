package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.acceptance.JavaProcess;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.chunks.ChunkIndex;
import dev.torchane.program.Bundle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Two layers with the shapes of Mistral-Small-24B: minutes, 6 GB of memory for torch's side and 4 GB of disk. */
@Tag("full")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads the process's memory from /proc")
class LargeModelTest {

    private static final LargeCheckpoint CHECKPOINT = new LargeCheckpoint(2, 4096);
    private static final int[] IDS = {1, 17, 4000, 256, 999, 3, 77, 2048, 5, 1234};
    private static final long TWO_GIGABYTES = 2L << 10;

    @TempDir
    Path folder;

    @Test
    void blocksOfAGgufAnswerAsTransformers() throws Exception {
        Path file = CHECKPOINT.writeGguf(folder.resolve("large.gguf"), false);
        assertAnswersAsTransformers(file, WeightEncoding.STORED, 1e-4);
    }

    @Test
    void shardsOfSafetensorsAnswerAsTransformers() throws Exception {
        Path directory = CHECKPOINT.writeSafetensors(folder.resolve("large"));
        assertAnswersAsTransformers(directory, WeightEncoding.FP16, 1e-3);
    }

    /**
     * @param tolerance of the largest difference of a logit, relative to the largest logit
     */
    private void assertAnswersAsTransformers(Path checkpoint, WeightEncoding encoding, double tolerance)
            throws Exception {
        Path bundle = folder.resolve("bundle");
        JavaProcess built = run("build", checkpoint.toString(), bundle.toString(), encoding.name(), "1");
        assertEquals(0, built.exitCode(), built.toString());
        long peak = Long.parseLong(line(built, "peak "));
        long largest;
        try (Bundle opened = Bundle.open(bundle)) {
            largest = ChunkIndex.read(opened).chunks().stream()
                    .mapToLong(ChunkIndex.Part::bytes)
                    .max()
                    .orElseThrow();
        }
        assertTrue(peak <= 2 * (largest >> 20) + TWO_GIGABYTES, built.toString());

        JavaProcess streamed = run("run", bundle.toString(), "1", ids());
        float[] logits = logits(streamed);
        assertEquals(line(run("run", bundle.toString(), "0", ids()), "logits "), line(streamed, "logits "));
        float[] torchs = TinyBundles.eager(checkpoint, List.of(IDS)).getFirst();
        float most = 0;
        for (float logit : torchs) {
            most = Math.max(most, Math.abs(logit));
        }
        assertEquals(0, TinyBundles.difference(torchs, logits) / most, tolerance, streamed.err());
        System.out.println(encoding + ": difference " + TinyBundles.difference(torchs, logits) / most
                + " of the largest, " + built.out()
                + streamed.out()
                        .lines()
                        .filter(line -> !line.startsWith("logits"))
                        .toList());
    }

    private static JavaProcess run(String... arguments) throws Exception {
        return JavaProcess.run(
                JavaProcess.classPath(_ -> true),
                List.of(arguments[0].equals("build") ? "-Xmx1g" : "-Xmx3g", "-XX:+UseParallelGC"),
                ChunkedBuildInItsOwnProcess.class.getName(),
                arguments);
    }

    private static String ids() {
        return Arrays.stream(IDS).mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    private static float[] logits(JavaProcess process) {
        String[] numbers = line(process, "logits ").split(" ");
        float[] logits = new float[numbers.length];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = Float.parseFloat(numbers[i]);
        }
        return logits;
    }

    private static String line(JavaProcess process, String start) {
        return process.out()
                .lines()
                .filter(line -> line.startsWith(start))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line '" + start + "' in " + process))
                .substring(start.length());
    }
}
