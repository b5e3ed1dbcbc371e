package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.build.Progress;
import dev.torchane.testing.GgufWriter;
import dev.torchane.testing.LittleEndian;
import dev.torchane.testing.SafetensorsWriter;
import dev.torchane.testing.TinyModel;
import dev.torchane.weights.CheckpointException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints that no model can be built from are refused at once: before Python starts, and with nothing in the cache. */
class RefusedCheckpointsTest {

    @TempDir
    Path folder;

    private Path checkpoint;

    @BeforeEach
    void tiny() {
        checkpoint = TinyModel.untied(TinyModel.Architecture.LLAMA, 1).writeHuggingFace(folder.resolve("checkpoint"));
    }

    @Test
    void aHeaderThatIsLongerThanItsFile() throws IOException {
        Files.write(
                checkpoint.resolve("model.safetensors"),
                new LittleEndian().int64(132_095_296L).raw(new byte[1016]).toBytes());
        assertRefused(checkpoint, "the header says 132095296 bytes, the file has 1024");
    }

    @Test
    void aPickleUnderTheNameOfSafetensors() throws IOException {
        Files.writeString(checkpoint.resolve("model.safetensors"), "PK\u0003\u0004" + "x".repeat(100));
        assertRefused(checkpoint, "not a safetensors file", "PyTorch zip (.bin");
    }

    @Test
    void dataThatIsCutShort() throws IOException {
        Path file = checkpoint.resolve("model.safetensors");
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, java.util.Arrays.copyOf(whole, whole.length - 4));
        assertRefused(checkpoint, "'lm_head.weight'", "" + whole.length, "" + (whole.length - 4));
    }

    @Test
    void aFileWithMetadataAndNoTensors() {
        new SafetensorsWriter().metadata("crc", "12").write(checkpoint.resolve("model.safetensors"));
        assertRefused(checkpoint, "checkpoint has no weights");
    }

    @Test
    void shardsThatWereNotDownloaded() throws IOException {
        Files.delete(checkpoint.resolve("model.safetensors"));
        new SafetensorsWriter().floats("a", new long[] {1}, 1).write(checkpoint.resolve("part-1.safetensors"));
        Files.writeString(
                checkpoint.resolve("model.safetensors.index.json"),
                "{\"weight_map\":{\"a\":\"part-1.safetensors\",\"b\":\"part-2.safetensors\",\"c\":\"part-3.safetensors\"}}");
        assertRefused(checkpoint, "part-2.safetensors, part-3.safetensors", "incomplete download?");
    }

    @Test
    void anUntiedModelWithoutItsHead() {
        TinyModel model = TinyModel.untied(TinyModel.Architecture.LLAMA, 1);
        model.tensors().remove("lm_head.weight");
        assertRefused(model.writeHuggingFace(checkpoint), "'lm_head.weight'", "tie_word_embeddings is false");
    }

    @Test
    void aGgufWithATensorOfATypeThatCannotBeRead() {
        Path file = TinyModel.of(TinyModel.Architecture.LLAMA, 1)
                .gguf()
                .tensor("blk.2.ffn_up.weight", GgufWriter.IQ2_XXS, new long[] {256, 256}, new byte[256 * 66])
                .write(folder.resolve("model.gguf"));
        assertRefused(file, "'blk.2.ffn_up.weight'", "IQ2_XXS");
    }

    private void assertRefused(Path model, String... words) {
        List<String> stages = new ArrayList<>();
        Path cache = folder.resolve("cache");
        CausalLMOptions options = CausalLMOptions.builder()
                .cache(cache)
                .progress(new Progress() {
                    @Override
                    public void stage(String stage, long total, String unit) {
                        stages.add(stage);
                    }

                    @Override
                    public void done(long units) {}
                })
                .build();
        CheckpointException e = assertThrows(
                CheckpointException.class,
                () -> CausalLM.fromPretrained(model, options).close());
        for (String word : words) {
            assertTrue(e.getMessage().contains(word), () -> "'" + word + "' is not in: " + e.getMessage());
        }
        assertEquals(List.of(), stages);
        assertEquals(List.of(), manifests(cache));
    }

    private static List<Path> manifests(Path cache) {
        if (!Files.exists(cache)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(cache)) {
            return files.filter(file -> file.endsWith("manifest.json")).toList();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
