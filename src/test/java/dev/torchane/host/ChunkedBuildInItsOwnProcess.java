package dev.torchane.host;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.ChunkedCausalLM;
import dev.torchane.ChunkedOptions;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.ChunkLimits;
import dev.torchane.build.Progress;
import dev.torchane.build.WeightEncoding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Builds or runs a model in chunks in a process of its own, and says what it took: {@code build CHECKPOINT BUNDLE ENCODING LAYERS} or
 * {@code run BUNDLE RESIDENT IDS}. For {@link LargeModelTest}, and for measuring by hand.
 */
final class ChunkedBuildInItsOwnProcess {

    private ChunkedBuildInItsOwnProcess() {}

    public static void main(String[] args) throws IOException {
        long begin = System.nanoTime();
        switch (args[0]) {
            case "layers" -> write(args);
            case "build" -> build(args);
            default -> run(args);
        }
        System.out.printf("seconds %.1f%n", (System.nanoTime() - begin) / 1e9);
        System.out.println("peak " + kilobytes("VmHWM") / 1024);
    }

    /** {@code layers FILE LAYERS VOCAB [sparse]}: writes a checkpoint. */
    private static void write(String[] args) {
        LargeCheckpoint checkpoint = new LargeCheckpoint(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        Path path = Path.of(args[1]);
        if (path.toString().endsWith(".gguf")) {
            checkpoint.writeGguf(path, args.length > 4);
        } else {
            checkpoint.writeSafetensors(path);
        }
    }

    private static void build(String[] args) throws IOException {
        BuildOptions options = BuildOptions.defaults()
                .withWeights(WeightEncoding.valueOf(args[3]))
                .withMaxLen(64)
                .withPrefillWindow(16)
                .withLadder(List.of())
                .withBatch(false);
        Path bundle = Path.of(args[2]);
        new GraalPyExporter()
                .exportChunks(
                        Path.of(args[1]),
                        options,
                        ChunkLimits.defaults().withLayers(Integer.parseInt(args[4])),
                        Files.createDirectories(bundle),
                        bundle.resolveSibling(bundle.getFileName() + ".chunks"),
                        memory());
    }

    /** Says how much memory is in use whenever a stage begins. */
    private static Progress memory() {
        return new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {
                System.out.println("resident " + kilobytes("VmRSS") / 1024 + " at " + stage);
            }

            @Override
            public void done(long units) {}
        };
    }

    private static long kilobytes(String field) {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void run(String[] args) {
        int[] ids =
                Arrays.stream(args[3].split(",")).mapToInt(Integer::parseInt).toArray();
        ChunkedOptions options =
                ChunkedOptions.of(CausalLMOptions.defaults()).withResidentBytes(Long.parseLong(args[2]));
        try (CausalLM lm = ChunkedCausalLM.open(Path.of(args[1]), options)) {
            float[] logits = lm.feed(ids);
            for (int step = 0; step < 3; step++) {
                long begin = System.nanoTime();
                lm.feed(ids[step]);
                System.out.printf("step %.2f%n", (System.nanoTime() - begin) / 1e9);
            }
            System.out.println("logits "
                    + java.util.stream.IntStream.range(0, logits.length)
                            .mapToObj(i -> Float.toString(logits[i]))
                            .collect(Collectors.joining(" ")));
        }
    }
}
