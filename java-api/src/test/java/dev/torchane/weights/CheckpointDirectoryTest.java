package dev.torchane.weights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.testing.SafetensorsWriter;
import dev.torchane.testing.TinyModel;
import dev.torchane.testing.TinyModel.Architecture;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hugging Face directories: single files, shards, tied heads, and what is missing. */
class CheckpointDirectoryTest {

    @TempDir
    Path directory;

    @Test
    void aSingleFileNeedsNoIndex() {
        TinyModel.of(Architecture.LLAMA, 1).writeHuggingFace(directory);
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            WeightTensor tensor = checkpoint.tensor("model.layers.1.mlp.down_proj.weight");
            assertEquals(List.of((long) TinyModel.HIDDEN, (long) TinyModel.INTERMEDIATE), tensor.shape());
            assertTrue(tensor.isAsStored());
            assertTrue(checkpoint.hasTiedHead());
            assertEquals(
                    Set.of("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"),
                    Set.copyOf(checkpoint.files().stream()
                            .map(f -> f.getFileName().toString())
                            .toList()));
        }
        try (Checkpoint file = Checkpoint.open(directory.resolve("model.safetensors"))) {
            assertEquals(5, file.files().size() + 1);
        }
    }

    @Test
    void shardsAreReadThroughTheIndex() throws IOException {
        sharded();
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertEquals(Set.of("a", "b", "c"), checkpoint.tensors().keySet());
        }
    }

    @Test
    void missingShardsAreNamed() throws IOException {
        sharded();
        Files.delete(directory.resolve("model-2.safetensors"));
        Files.delete(directory.resolve("model-3.safetensors"));
        CheckpointFault fault = fault();
        CheckpointFault.MissingShards missing = assertInstanceOf(CheckpointFault.MissingShards.class, fault);
        assertEquals(List.of("model-2.safetensors", "model-3.safetensors"), missing.missing());
        assertMessage(fault, "model-2.safetensors, model-3.safetensors", "incomplete download?");
    }

    @Test
    void anIndexThatPointsElsewhereIsRefused() throws IOException {
        sharded();
        index("\"a\":\"../model-1.safetensors\"");
        assertMessage(fault(), "../model-1.safetensors", "plain file name");
        index("\"a\":\"model-1.safetensors\",\"b\":\"model-1.safetensors\"");
        assertMessage(fault(), "'b'", "the index says it is there");
        index("");
        assertMessage(fault(), "weight_map");
    }

    @Test
    void otherKindsOfDirectoriesAreNamed() throws IOException {
        assertMessage(fault(), "no config.json");
        Files.writeString(directory.resolve("config.json"), "{}");
        assertMessage(fault(), "no model.safetensors");
        Files.writeString(directory.resolve("model.gguf"), "");
        assertMessage(fault(), "GGUF files; name one of them: model.gguf");
        Files.writeString(directory.resolve("pytorch_model.bin"), "");
        assertMessage(fault(), "pickles (pytorch_model.bin)", "convert them to safetensors");
        Files.writeString(directory.resolve("config.json"), "[]");
        assertMessage(fault(), "config.json", "no JSON object");
        Files.writeString(directory.resolve("config.json"), "{\"a\":");
        assertMessage(fault(), "config.json", "not a JSON file");
        CheckpointException absent =
                assertThrows(CheckpointException.class, () -> Checkpoint.open(directory.resolve("absent")));
        assertMessage(absent.fault(), "absent", "no such file");
    }

    @Test
    void aFileWithMetadataOnlyOpensAndHasNoWeights() throws IOException {
        Files.writeString(directory.resolve("config.json"), "{}");
        new SafetensorsWriter().metadata("crc", "12").write(directory.resolve("model.safetensors"));
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertEquals(0, checkpoint.tensors().size());
            CheckpointException e = assertThrows(CheckpointException.class, checkpoint::hasTiedHead);
            assertMessage(e.fault(), "checkpoint has no weights");
        }
    }

    @Test
    void anUntiedModelWithoutAHeadIsRefused() throws IOException {
        TinyModel model = TinyModel.untied(Architecture.LLAMA, 1);
        model.tensors().remove("lm_head.weight");
        model.writeHuggingFace(directory);
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            CheckpointException e = assertThrows(CheckpointException.class, checkpoint::hasTiedHead);
            assertMessage(e.fault(), "lm_head.weight", "tie_word_embeddings");
        }
    }

    @Test
    void aDifferentHeadWinsOverATyingConfiguration() {
        TinyModel model = TinyModel.of(Architecture.LLAMA, 1);
        TinyModel.Values embedding = model.tensors().get("model.embed_tokens.weight");
        model.tensors().put("lm_head.weight", embedding);
        model.writeHuggingFace(directory);
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertTrue(checkpoint.hasTiedHead());
        }
        float[] other = embedding.values().clone();
        other[5] += 1;
        model.tensors().put("lm_head.weight", new TinyModel.Values(embedding.shape(), other));
        model.writeHuggingFace(directory);
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertFalse(checkpoint.hasTiedHead());
        }
    }

    @Test
    void copyOnWriteNeverReachesTheFile() throws IOException {
        TinyModel.of(Architecture.LLAMA, 1).writeHuggingFace(directory);
        byte[] before = Files.readAllBytes(directory.resolve("model.safetensors"));
        try (Checkpoint checkpoint = Checkpoint.open(directory, Checkpoint.Access.COPY_ON_WRITE)) {
            WeightTensor tensor = checkpoint.tensor("model.norm.weight");
            tensor.data().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 42f);
            assertEquals(42f, tensor.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0));
        }
        org.junit.jupiter.api.Assertions.assertArrayEquals(
                before, Files.readAllBytes(directory.resolve("model.safetensors")));
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            WeightTensor tensor = checkpoint.tensor("model.norm.weight");
            assertThrows(
                    IllegalArgumentException.class, () -> tensor.data().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 42f));
        }
    }

    @Test
    void viewsOfAClosedCheckpointThrow() {
        TinyModel.of(Architecture.LLAMA, 1).writeHuggingFace(directory);
        Checkpoint checkpoint = Checkpoint.open(directory);
        WeightTensor tensor = checkpoint.tensor("model.norm.weight");
        checkpoint.close();
        checkpoint.close();
        assertThrows(IllegalStateException.class, () -> tensor.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0));
    }

    private void sharded() throws IOException {
        Files.writeString(directory.resolve("config.json"), "{}");
        int number = 1;
        for (String name : List.of("a", "b", "c")) {
            new SafetensorsWriter()
                    .floats(name, new long[] {2}, number, number)
                    .write(directory.resolve("model-" + number++ + ".safetensors"));
        }
        index("\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\",\"c\":\"model-3.safetensors\"");
    }

    private void index(String map) throws IOException {
        Files.writeString(directory.resolve("model.safetensors.index.json"), "{\"weight_map\":{" + map + "}}");
    }

    private CheckpointFault fault() {
        return assertThrows(CheckpointException.class, () -> Checkpoint.open(directory))
                .fault();
    }

    private static void assertMessage(CheckpointFault fault, String... words) {
        for (String word : words) {
            assertTrue(fault.message().contains(word), () -> "'" + word + "' is not in: " + fault.message());
        }
    }
}
