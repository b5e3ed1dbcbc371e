package dev.torchane.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.testing.GgufWriter;
import dev.torchane.testing.LittleEndian;
import dev.torchane.testing.TinyModel;
import dev.torchane.testing.TinyModel.Architecture;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** GGUF files: the same model as its Hugging Face directory, and files that are refused. */
class GgufCheckpointTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Architecture.class)
    void aGgufHoldsTheSameTensorsAsTheDirectoryItWasMadeFrom(Architecture architecture) {
        TinyModel model = TinyModel.of(architecture, 7);
        try (Checkpoint checkpoint = Checkpoint.open(model.writeGguf(directory.resolve("m.gguf")))) {
            assertEquals(model.tensors().keySet(), checkpoint.tensors().keySet());
            model.tensors().forEach((name, expected) -> {
                float[] values = new float[expected.values().length];
                WeightTensor tensor = checkpoint.tensor(name);
                tensor.dequantize(MemorySegment.ofArray(values));
                // Gemma's norms are stored plus one: the sum rounds.
                float tolerance = architecture.name().startsWith("GEMMA") && name.endsWith("norm.weight") ? 1e-7f : 0;
                assertArrayEquals(expected.values(), values, tolerance, name);
                assertEquals(Arrays.stream(expected.shape()).boxed().toList(), tensor.shape());
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Architecture.class)
    void aConfigurationIsMadeFromTheMetadata(Architecture architecture) throws IOException {
        TinyModel model = TinyModel.of(architecture, 7);
        try (Checkpoint checkpoint = Checkpoint.open(model.writeGguf(directory.resolve("m.gguf")))) {
            JsonNode made = new ObjectMapper().readTree(checkpoint.configJson());
            for (Map.Entry<String, JsonNode> field : model.config().properties()) {
                if (!field.getKey().equals("hidden_activation")) {
                    assertEquals(
                            field.getValue().toString(),
                            made.path(field.getKey()).toString(),
                            field.getKey());
                }
            }
            assertTrue(checkpoint.hasTiedHead());
            assertEquals(Checkpoint.Format.GGUF, checkpoint.format());
        }
    }

    @Test
    void someArchitecturesPairTheirRows() {
        for (Architecture architecture : List.of(
                Architecture.LLAMA,
                Architecture.GRANITE,
                Architecture.SMOLLM3,
                Architecture.QWEN2,
                Architecture.QWEN3,
                Architecture.OLMO2)) {
            Path file = TinyModel.of(architecture, 7).writeGguf(directory.resolve("m.gguf"));
            try (Checkpoint checkpoint = Checkpoint.open(file)) {
                boolean paired = architecture.pairsRows();
                assertEquals(
                        !paired,
                        checkpoint
                                .tensor("model.layers.0.self_attn.q_proj.weight")
                                .isAsStored());
                assertEquals(
                        !paired,
                        checkpoint
                                .tensor("model.layers.0.self_attn.k_proj.weight")
                                .isAsStored());
                assertTrue(checkpoint
                        .tensor("model.layers.0.self_attn.v_proj.weight")
                        .isAsStored());
            }
        }
    }

    @Test
    void keyLengthWinsOverHiddenSizeByHeads() throws IOException {
        GgufWriter writer = minimal("llama", 80, 4).uint32("llama.attention.key_length", 16);
        assertEquals(16, config(writer).path("head_dim").asInt());
        assertEquals(20, config(minimal("llama", 80, 4)).path("head_dim").asInt());
        GgufWriter unequal = minimal("llama", 80, 4)
                .uint32("llama.attention.key_length", 16)
                .uint32("llama.attention.value_length", 20);
        assertRefused(unequal.toBytes(), "llama.attention.value_length", "16", "20");
    }

    @Test
    void ropeScalingIsTakenOverOrRefused() throws IOException {
        JsonNode linear = config(minimal("llama", 64, 4)
                        .string("llama.rope.scaling.type", "linear")
                        .float32("llama.rope.scaling.factor", 4))
                .path("rope_scaling");
        assertEquals("{\"rope_type\":\"linear\",\"factor\":4.0}", linear.toString());
        JsonNode yarn = config(minimal("qwen2", 64, 4)
                        .string("qwen2.rope.scaling.type", "yarn")
                        .float32("qwen2.rope.scaling.factor", 4)
                        .uint32("qwen2.rope.scaling.original_context_length", 32768))
                .path("rope_scaling");
        assertEquals(
                "{\"rope_type\":\"yarn\",\"factor\":4.0,\"original_max_position_embeddings\":32768}", yarn.toString());
        assertRefused(
                minimal("llama", 64, 4)
                        .string("llama.rope.scaling.type", "longrope")
                        .toBytes(),
                "llama.rope.scaling.type",
                "longrope");
    }

    @Test
    void ropeFactorsBecomeLlama3Scaling() throws IOException {
        float[] factors = llama3Factors(500_000, 128, 8, 8192);
        JsonNode scaling = config(llama31(factors)).path("rope_scaling");
        assertEquals(
                "{\"rope_type\":\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
                        + "\"original_max_position_embeddings\":8192}",
                scaling.toString());
        factors[30] *= 1.01f;
        assertRefused(llama31(factors).toBytes(), "rope_freqs.weight", "at 30");
        Arrays.fill(factors, 1);
        assertTrue(config(llama31(factors)).path("rope_scaling").isMissingNode());
    }

    @Test
    void expertsAreSlicesOfOneTensor() throws IOException {
        GgufWriter mixture = minimal("qwen3moe", 64, 4)
                .uint32("qwen3moe.expert_count", 3)
                .uint32("qwen3moe.expert_used_count", 2)
                .uint32("qwen3moe.expert_feed_forward_length", 2)
                .floats("blk.0.ffn_gate_inp.weight", new long[] {3, 1}, 7, 8, 9)
                .floats("blk.0.ffn_down_exps.weight", new long[] {3, 1, 2}, 1, 2, 3, 4, 5, 6);
        try (Checkpoint checkpoint = Checkpoint.open(mixture.write(directory.resolve("m.gguf")))) {
            float[] values = new float[2];
            WeightTensor second = checkpoint.tensor("model.layers.0.mlp.experts.1.down_proj.weight");
            second.dequantize(MemorySegment.ofArray(values));
            assertArrayEquals(new float[] {3, 4}, values);
            assertEquals(List.of(1L, 2L), second.shape());
            assertEquals(4, checkpoint.tensors().size());
            assertTrue(checkpoint.tensors().containsKey("model.layers.0.mlp.gate.weight"));
        }
        JsonNode config = config(mixture);
        assertEquals(3, config.path("num_experts").asInt());
        assertEquals(2, config.path("num_experts_per_tok").asInt());
        assertEquals(2, config.path("moe_intermediate_size").asInt());
        assertRefused(
                mixture.floats("blk.0.ffn_up_exps.weight", new long[] {2, 1, 2}, 1, 2, 3, 4)
                        .toBytes(),
                "'blk.0.ffn_up_exps.weight'",
                "3 experts");
    }

    @Test
    void longropeIsReadFromItsTwoTensorsOfFactors() throws IOException {
        GgufWriter phi = minimal("phi3", 64, 4)
                .uint32("phi3.rope.dimension_count", 8)
                .uint32("phi3.rope.scaling.original_context_length", 4096)
                .float32("phi3.rope.scaling.attn_factor", 1.19f)
                .floats("rope_factors_long.weight", new long[] {4}, 1, 2, 3, 4);
        assertRefused(phi.toBytes(), "phi3.rope.scaling.type", "rope_factors_short.weight");
        JsonNode config = config(phi.floats("rope_factors_short.weight", new long[] {4}, 1, 1.1f, 1.2f, 1.3f));
        assertEquals(
                "{\"rope_type\":\"longrope\",\"short_factor\":[1.0,1.1,1.2,1.3],\"long_factor\":[1.0,2.0,3.0,4.0],"
                        + "\"original_max_position_embeddings\":4096,\"attention_factor\":1.19}",
                config.path("rope_scaling").toString());
        assertEquals(0.5, config.path("partial_rotary_factor").asDouble());
    }

    @Test
    void scalesAndCapsOfOtherArchitecturesAreRefused() throws IOException {
        assertRefused(
                minimal("llama", 64, 4).float32("llama.residual_scale", 0.22f).toBytes(),
                "llama.residual_scale",
                "0.22");
        assertRefused(
                minimal("gemma3", 64, 4)
                        .float32("gemma3.final_logit_softcapping", 30)
                        .toBytes(),
                "gemma3.final_logit_softcapping");
    }

    @Test
    void mixedTypesAreRead() {
        int embedding = 512 * 256;
        GgufWriter writer = minimal("llama", 256, 4)
                .tensor("token_embd.weight", GgufWriter.Q6_K, new long[] {512, 256}, new byte[embedding / 256 * 210])
                .tensor("blk.0.attn_norm.weight", GgufWriter.F32, new long[] {256}, new byte[1024])
                .tensor("blk.0.attn_q.weight", GgufWriter.Q4_0, new long[] {256, 256}, new byte[256 * 256 / 32 * 18])
                .tensor("blk.0.attn_v.weight", GgufWriter.BF16, new long[] {256, 256}, new byte[256 * 256 * 2]);
        try (Checkpoint checkpoint = Checkpoint.open(writer.write(directory.resolve("m.gguf")))) {
            assertEquals(
                    WeightType.Q6_K,
                    checkpoint.tensor("model.embed_tokens.weight").type());
            assertEquals(
                    WeightType.Q4_0,
                    checkpoint.tensor("model.layers.0.self_attn.q_proj.weight").type());
            assertEquals(
                    WeightType.BF16,
                    checkpoint.tensor("model.layers.0.self_attn.v_proj.weight").type());
            assertEquals(
                    WeightType.F32,
                    checkpoint.tensor("model.layers.0.input_layernorm.weight").type());
            float[] row = new float[256];
            for (WeightTensor tensor : checkpoint.tensors().values()) {
                tensor.dequantize(0, 1, MemorySegment.ofArray(row));
            }
        }
    }

    @Test
    void anUnsupportedTypeIsRefusedByTensorAndType() throws IOException {
        CheckpointFault fault = assertRefused(
                minimal("llama", 256, 4)
                        .tensor("blk.0.ffn_up.weight", GgufWriter.IQ2_XXS, new long[] {256, 256}, new byte[256 * 66])
                        .toBytes(),
                "'blk.0.ffn_up.weight'",
                "IQ2_XXS",
                "not supported");
        assertInstanceOf(CheckpointFault.UnsupportedType.class, fault);
        assertRefused(
                minimal("llama", 256, 4)
                        .tensor("blk.0.ffn_up.weight", 999, new long[] {256}, new byte[256])
                        .toBytes(),
                "number 999");
    }

    @Test
    void otherVersionsAndArchitecturesAreNamed() throws IOException {
        assertRefused(new GgufWriter().version(1).toBytes(), "GGUF version 1");
        assertRefused(new GgufWriter().version(0x03000000).toBytes(), "big-endian");
        assertRefused(new GgufWriter().version(7).toBytes(), "GGUF version 7");
        assertRefused(new GgufWriter().toBytes(), "general.architecture", "missing");
        assertRefused(new GgufWriter().string("general.architecture", "mamba").toBytes(), "mamba", "llama, qwen2");
        assertRefused(minimal("llama", 64, 4).uint32("llama.expert_count", 8).toBytes(), "expert_count");
        assertRefused(minimal("llama", 64, 4).uint32("split.count", 3).toBytes(), "3 parts");
        assertRefused(
                minimal("llama", 64, 4)
                        .floats("blk.0.strange.weight", new long[] {1}, 1)
                        .toBytes(),
                "'blk.0.strange.weight'",
                "does not belong");
        GgufWriter second = TinyModel.of(Architecture.LLAMA, 1).gguf().version(2);
        Checkpoint.open(second.write(directory.resolve("v2.gguf"))).close();
    }

    @Test
    void sizesAreCheckedBeforeTheyAreUsed() throws IOException {
        byte[] huge = new LittleEndian()
                .int32(0x46554747)
                .int32(3)
                .int64(Long.MAX_VALUE)
                .int64(0)
                .toBytes();
        assertRefused(huge, "number of tensors is 9223372036854775807");
        byte[] string = new LittleEndian()
                .int32(0x46554747)
                .int32(3)
                .int64(0)
                .int64(1)
                .int64(1L << 40)
                .raw(new byte[64])
                .toBytes();
        assertRefused(string, "length of metadata key 0 is 1099511627776");
        byte[] array = new LittleEndian()
                .int32(0x46554747)
                .int32(3)
                .int64(0)
                .int64(1)
                .string("k")
                .int32(9)
                .int32(4)
                .int64(1L << 60)
                .toBytes();
        assertRefused(array, "size of 'k' is 1152921504606846976");
    }

    @Test
    void tensorsMustLieWhereTheyCan() throws IOException {
        long[] shape = {8};
        byte[] data = new byte[32];
        assertRefused(
                minimal("llama", 64, 4)
                        .tensorAt("output_norm.weight", 0, shape, 4, data)
                        .toBytes(),
                "'output_norm.weight'",
                "multiple of the alignment 32");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensorAt("output_norm.weight", 0, shape, 1L << 40, data)
                        .toBytes(),
                "cut short");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensorAt("output_norm.weight", 0, shape, Long.MAX_VALUE - 31, data)
                        .toBytes(),
                "cut short");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensor("output_norm.weight", 0, shape, data)
                        .tensorAt("output.weight", 0, shape, 0, data)
                        .toBytes(),
                "inside 'output_norm.weight'");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensor("output_norm.weight", 0, shape, data)
                        .tensor("output_norm.weight", 0, shape, data)
                        .toBytes(),
                "occurs twice");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensor("output.weight", 0, new long[] {1L << 62, 8}, data)
                        .toBytes(),
                "more bytes than a file can have");
        assertRefused(
                minimal("llama", 64, 4)
                        .tensor("output.weight", GgufWriter.Q4_0, new long[] {2, 16}, new byte[18])
                        .toBytes(),
                "whole blocks of 32");
        assertRefused(minimal("llama", 64, 4).uint32("general.alignment", 24).toBytes(), "general.alignment", "24");
    }

    @Test
    void everyPrefixIsRefusedAndFlippedBytesNeverCrash() throws IOException {
        byte[] whole = minimal("llama", 64, 4)
                .floats("output_norm.weight", new long[] {8}, new float[8])
                .toBytes();
        for (int length = 0; length < whole.length; length++) {
            assertRefused(Arrays.copyOf(whole, length), "m.gguf");
        }
        Path file = directory.resolve("m.gguf");
        for (int i = 0; i < whole.length; i++) {
            byte[] flipped = whole.clone();
            flipped[i] ^= (byte) (1 << i % 8);
            Files.write(file, flipped);
            try (Checkpoint checkpoint = Checkpoint.open(file)) {
                checkpoint.tensors();
            } catch (CheckpointException e) {
                assertTrue(e.getMessage().contains("m.gguf"), e.getMessage());
            }
        }
    }

    @Test
    void alignmentFromTheMetadataIsUsed() {
        GgufWriter writer = new GgufWriter().alignment(64);
        describe(writer, "llama", 64, 4);
        writer.floats("output_norm.weight", new long[] {3}, 1, 2, 3).floats("output.weight", new long[] {2}, 4, 5);
        try (Checkpoint checkpoint = Checkpoint.open(writer.write(directory.resolve("m.gguf")))) {
            float[] values = new float[2];
            checkpoint.tensor("lm_head.weight").dequantize(MemorySegment.ofArray(values));
            assertArrayEquals(new float[] {4, 5}, values);
        }
    }

    private static GgufWriter minimal(String architecture, int hidden, int heads) {
        return describe(new GgufWriter(), architecture, hidden, heads);
    }

    private static GgufWriter describe(GgufWriter writer, String architecture, int hidden, int heads) {
        return writer.string("general.architecture", architecture)
                .uint32(architecture + ".block_count", 0)
                .uint32(architecture + ".context_length", 131072)
                .uint32(architecture + ".embedding_length", hidden)
                .uint32(architecture + ".feed_forward_length", 96)
                .uint32(architecture + ".attention.head_count", heads)
                .float32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f)
                .uint32(architecture + ".vocab_size", 512);
    }

    private static GgufWriter llama31(float[] factors) {
        return minimal("llama", 512, 4)
                .float32("llama.rope.freq_base", 500_000)
                .floats("rope_freqs.weight", new long[] {factors.length}, factors);
    }

    /** As llama.cpp's converter computes them. */
    private static float[] llama3Factors(double base, int dim, double factor, double original) {
        float[] factors = new float[dim / 2];
        for (int i = 0; i < factors.length; i++) {
            double wavelength = 2 * Math.PI * Math.pow(base, 2.0 * i / dim);
            double smooth = (original / wavelength - 1) / 3;
            factors[i] = (float)
                    (wavelength < original / 4
                            ? 1
                            : wavelength > original ? factor : 1 / ((1 - smooth) / factor + smooth));
        }
        return factors;
    }

    private JsonNode config(GgufWriter writer) throws IOException {
        try (Checkpoint checkpoint = Checkpoint.open(writer.write(directory.resolve("m.gguf")))) {
            return new ObjectMapper().readTree(checkpoint.configJson());
        }
    }

    private CheckpointFault assertRefused(byte[] content, String... words) throws IOException {
        Path file = directory.resolve("m.gguf");
        Files.write(file, content);
        CheckpointException e = assertThrows(
                CheckpointException.class, () -> Checkpoint.open(file).close());
        for (String word : words) {
            assertTrue(e.getMessage().contains(word), () -> "'" + word + "' is not in: " + e.getMessage());
        }
        return e.fault();
    }
}
