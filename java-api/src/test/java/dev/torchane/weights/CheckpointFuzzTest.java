package dev.torchane.weights;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.torchane.TorchAneException;
import dev.torchane.testing.Mutations;
import dev.torchane.testing.TinyModel;
import dev.torchane.testing.TinyModel.Architecture;
import dev.torchane.text.TokenizerFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mutated GGUF and safetensors files are read or refused: nothing but typed errors, and memory in proportion to the file.
 *
 * <p>{@code -Dtorchane.fuzzSeconds} is for how long the test with the tag {@code full} runs, 60 seconds without it. A
 * failure leaves the file in the temporary folder and names the round, which its seed repeats.
 */
class CheckpointFuzzTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** What reading may allocate on the heap: a fixed part, and a multiple of the file. */
    private static final long BYTES = 8 << 20;

    private static final long BYTES_PER_BYTE = 64;

    /** Tokenizers are made in one of so many rounds: they take longer than all the rest. */
    private static final int TOKENIZERS = 17;

    private static final List<byte[]> WORDS = Stream.of(
                    "blk.0.attn_q.weight",
                    "blk.4294967296.attn_q.weight",
                    "llama.attention.key_length",
                    "general.alignment",
                    "rope_freqs.weight",
                    "rope_factors_long.weight",
                    "gemma3",
                    "phi3",
                    "\"dtype\":\"F64\"",
                    "\"shape\":[9223372036854775807,2]",
                    "\"data_offsets\":[0,18446744073709551616]",
                    "\"a\":{",
                    "]",
                    "[[[[",
                    "}",
                    ",",
                    "\u0000",
                    "\uFFFD",
                    "1e400",
                    "NaN",
                    "-0")
            .map(word -> word.getBytes(StandardCharsets.UTF_8))
            .toList();

    @TempDir
    Path directory;

    @Test
    void mutatedFilesAreReadOrRefused() throws IOException {
        fuzz(1, 2);
    }

    @Test
    @Tag("full")
    void mutatedFilesAreReadOrRefusedForLong() throws IOException {
        fuzz(System.nanoTime(), Integer.getInteger("torchane.fuzzSeconds", 60));
    }

    /** A whole file, and how much of it is header. */
    private record Seed(String name, byte[] file, int header) {}

    private void fuzz(long seed, int seconds) throws IOException {
        List<Seed> seeds = seeds();
        Mutations mutations = new Mutations(seed, WORDS);
        Path tokenizer = Files.createDirectories(directory.resolve("tokenizer"));
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        int read = 0;
        int round = 0;
        for (; System.nanoTime() < end; round++) {
            Seed whole = seeds.get(round % seeds.size());
            byte[] bytes = mutations.mutate(whole.file(), whole.header());
            Path file = directory.resolve(whole.name());
            Files.write(file, bytes);
            long before = THREADS.getCurrentThreadAllocatedBytes();
            try {
                readAll(file, round % TOKENIZERS == 0 ? Optional.of(tokenizer) : Optional.empty());
                read++;
            } catch (TorchAneException e) {
                assertTrue(
                        e.getMessage().length() < 2000,
                        () -> "a message of " + e.getMessage().length() + " characters");
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + ", round " + round + ": " + keep(bytes, whole.name()), e);
            }
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            if (allocated > BYTES + BYTES_PER_BYTE * bytes.length) {
                throw new AssertionError("seed " + seed + ", round " + round + ": " + allocated
                        + " bytes for a file of " + bytes.length + ": " + keep(bytes, whole.name()));
            }
        }
        System.out.println("fuzzed " + round + " files, of which " + read + " were read");
        assertTrue(read > 0 && read < round, "both happens: " + read + " of " + round + " were read");
    }

    private static Path keep(byte[] bytes, String name) throws IOException {
        return Files.write(Files.createTempFile("fuzz-", "-" + name), bytes);
    }

    /** Everything that a build reads. */
    private static void readAll(Path file, Optional<Path> tokenizer) {
        try (Checkpoint checkpoint = Checkpoint.open(file)) {
            checkpoint.configJson();
            for (WeightTensor tensor : checkpoint.tensors().values()) {
                if (tensor.elements() < 1 << 20 && isWeight(tensor.type())) {
                    tensor.dequantize(MemorySegment.ofArray(new float[(int) tensor.elements()]));
                }
            }
            checkpoint.hasTiedHead();
            if (tokenizer.isPresent()) {
                TokenizerFiles.check(checkpoint);
                TokenizerFiles.write(checkpoint, tokenizer.get());
            }
        }
    }

    private static boolean isWeight(WeightType type) {
        return switch (type) {
            case F32, F16, BF16 -> true;
            default -> type.isBlocked();
        };
    }

    private List<Seed> seeds() throws IOException {
        List<Seed> seeds = new ArrayList<>();
        for (Architecture architecture : Architecture.values()) {
            TinyModel model = TinyModel.of(architecture, 7);
            byte[] file = Files.readAllBytes(model.writeGgufOfBlocks(directory.resolve("seed.gguf")));
            // The tensors' values are at the end: half of the header is the vocabulary.
            seeds.add(new Seed(architecture.name().toLowerCase() + ".gguf", file, 12_000));
        }
        TinyModel.of(Architecture.LLAMA, 7).writeHuggingFace(directory);
        byte[] file = Files.readAllBytes(directory.resolve("model.safetensors"));
        seeds.add(new Seed("model.safetensors", file, 3_000));
        return seeds;
    }
}
