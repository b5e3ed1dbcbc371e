package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.engine.jvm.JvmEngine;
import dev.torchane.weights.WeightType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BundleTest {

    private static final String JSON = """
            {
              "format": 1,
              "kind": "causal-lm",
              "target": "cpu",
              "options": {"maxLen": "32", "weights": "int8"},
              "source": {"name": "tiny", "digest": "sha256:00"},
              "versions": {"torch-ane": "0.1"},
              "model": {
                "architecture": "LlamaForCausalLM", "vocab": 3, "hidden": 2, "layers": 1, "heads": 4, "kvHeads": 2,
                "headDim": 4, "maxPosition": 64, "maxLen": 32, "prefillWindow": 16, "decodeWindow": 8, "ladder": [16, 32],
                "slidingWindow": 0, "eos": [2], "bos": 1
              },
              "rope": {"global": {"dim": 4, "inverseFrequencies": [1.0, 0.01], "attentionScaling": 1}, "local": null},
              "embedding": {"rows": 3, "columns": 2, "encoding": "int8", "data": 64, "scale": 192, "multiplier": 2.0},
              "rowAxes": {"emb": 1, "mask": 2},
              "weights": [{"name": "w", "shape": [2, 2], "encoding": "fp32", "bytes": 16, "maxError": 0.5}],
              "build": {"seconds": {"load": 1.5}}
            }
            """;

    @TempDir
    Path folder;

    private Path write(String json) {
        try (BundleWriter writer = BundleWriter.create(folder)) {
            long table = writer.weights()
                    .append(TensorType.of(DType.INT8, 3, 2), MemorySegment.ofArray(new byte[] {1, 2, 3, 4, -5, 6}));
            long scale = writer.weights()
                    .append(TensorType.of(DType.FP32, 3, 1), MemorySegment.ofArray(new float[] {1, 0.5f, 0.25f}));
            TensorType matrix = TensorType.of(DType.FP32, 2, 2);
            long weight = writer.weights().append(matrix, MemorySegment.ofArray(new float[] {1, 2, 3, 4}));
            assertEquals(List.of(64L, 192L), List.of(table, scale));
            ProgramBuilder program = ProgramBuilder.create();
            for (String name : List.of("prefill_16", "decode_16")) {
                FunctionBuilder f = program.function(name);
                Value x = f.input("emb", TensorType.of(DType.FP32, 1, 8, 2));
                f.done(f.linear("y", x, f.constant("w", BundleWriter.blob(matrix, weight))));
            }
            writer.program(program.build());
            writer.file("tokenizer.json", new byte[] {'{', '}'});
            writer.manifest(json);
            writer.finish();
        }
        return folder;
    }

    @Test
    void whatWasWrittenIsOpened() {
        try (Bundle bundle = Bundle.open(write(JSON))) {
            Manifest manifest = bundle.manifest();
            assertEquals("cpu", manifest.target());
            assertEquals("int8", manifest.options().get("weights"));
            assertEquals(List.of(16, 32), manifest.model().ladder());
            assertEquals(List.of(2), manifest.model().eos());
            assertEquals(OptionalInt.of(1), manifest.model().bos());
            assertEquals(List.of(1f, 0.01f), manifest.rope().inverseFrequencies());
            assertEquals(Optional.empty(), manifest.localRope());
            assertEquals(2, manifest.rowAxes().get("mask"));
            assertEquals(
                    new Manifest.Weight("w", List.of(2, 2), "fp32", 16, 0, 0.5, 0, ""),
                    manifest.weights().getFirst());

            assertEquals(List.of("prefill_16", "decode_16"), bundle.functionNames());
            Function decode = bundle.function("decode_16");
            assertSame(decode, bundle.function("decode_16"));
            Literal.Blob blob =
                    (Literal.Blob) decode.operations().getFirst().constant().orElseThrow();
            assertArrayEquals(new float[] {1, 2, 3, 4}, bundle.data(blob).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
            assertEquals(2, bundle.program().functions().size());
            assertTrue(bundle.file("tokenizer.json").isPresent());
            assertTrue(bundle.file("chat_template.jinja").isEmpty());
        }
    }

    @Test
    void theJvmEngineRunsIt() {
        try (Bundle bundle = Bundle.open(write(JSON));
                LoadedProgram program = new JvmEngine().load(bundle, EngineOptions.defaults())) {
            assertEquals(Set.of("prefill_16", "decode_16"), Set.copyOf(program.functions()));
            LoadedFunction decode = program.function("decode_16");
            Tensor x = Tensor.allocate(TensorType.of(DType.FP32, 1, 8, 2));
            x.set(0, 1);
            x.set(1, 10);
            float[] y = decode.run(Map.of("emb", x), decode.newState()).get("y").toFloats();
            assertEquals(List.of(21f, 43f, 0f), List.of(y[0], y[1], y[2]));
        }
    }

    @Test
    void embeddingRowsMayBeBlocksOfAGguf() {
        byte[] blocks = new byte[2 * WeightType.Q8_0.blockBytes()];
        // A scale of 0.5, then 1, 2, 3 …; the second row of another.
        for (int row = 0; row < 2; row++) {
            blocks[34 * row + 1] = 0x38;
            for (int i = 0; i < 32; i++) {
                blocks[34 * row + 2 + i] = (byte) (row * 32 + i);
            }
        }
        String json = JSON.replace("\"vocab\": 3, \"hidden\": 2", "\"vocab\": 2, \"hidden\": 32")
                .replace(
                        "\"rows\": 3, \"columns\": 2, \"encoding\": \"int8\"",
                        "\"rows\": 2, \"columns\": 32, \"encoding\": \"q8_0\"")
                .replace("\"scale\": 192", "\"scale\": null")
                .replace("\"eos\": [2]", "\"eos\": [1]");
        try (BundleWriter writer = BundleWriter.create(folder)) {
            writer.weights().append(TensorType.of(DType.UINT8, blocks.length), MemorySegment.ofArray(blocks));
            ProgramBuilder program = ProgramBuilder.create();
            for (String name : List.of("prefill_16", "decode_16")) {
                FunctionBuilder f = program.function(name);
                Value x = f.input("emb", TensorType.of(DType.FP32, 1, 8, 32));
                f.done(f.apply("identity", "y", Map.of("x", x)));
            }
            writer.program(program.build());
            writer.manifest(json);
            writer.finish();
        }
        try (Bundle bundle = Bundle.open(folder)) {
            float[] row = new float[32];
            bundle.embedding().lookup(1, row);
            assertArrayEquals(new float[] {32, 33, 34}, Arrays.copyOf(row, 3));
        }
    }

    @Test
    void embeddingRowsAreLookedUpWithScaleAndMultiplier() {
        try (Bundle bundle = Bundle.open(write(JSON))) {
            float[] row = new float[2];
            bundle.embedding().lookup(1, row);
            assertArrayEquals(new float[] {3, 4}, row);
            bundle.embedding().lookup(2, row);
            assertArrayEquals(new float[] {-2.5f, 3}, row);
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class, () -> bundle.embedding().lookup(3, row));
            assertEquals("token id 3 is not in the vocabulary of 3 entries (0 to 2)", e.getMessage());
            assertThrows(
                    IllegalArgumentException.class, () -> bundle.embedding().lookup(-1, row));
            assertThrows(
                    IllegalArgumentException.class, () -> bundle.embedding().lookup(0, new float[1]));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"fp32", "fp16"})
    void embeddingRowsOfFloatsAreLookedUp(String encoding) {
        DType dtype = DType.ofMil(encoding);
        float[] values = {1.5f, -2, 0.25f, 4, 5, 6};
        MemorySegment data = dtype == DType.FP32
                ? MemorySegment.ofArray(values)
                : MemorySegment.ofArray(new short[] {0x3e00, (short) 0xc000, 0x3400, 0x4400, 0x4500, 0x4600});
        Path file = folder.resolve("w.bin");
        try (WeightFileWriter writer = WeightFileWriter.create(file)) {
            writer.append(TensorType.of(dtype, 3, 2), data);
            writer.finish();
        }
        String json = JSON.replace("\"int8\", \"data\": 64, \"scale\": 192", "\"" + encoding + "\", \"data\": 64");
        try (WeightFile weights = WeightFile.open(file)) {
            EmbeddingTable table = new EmbeddingTable(Manifest.parse(json), weights);
            float[] row = new float[2];
            for (int id = 0; id < 3; id++) {
                table.lookup(id, row);
                assertArrayEquals(new float[] {2 * values[2 * id], 2 * values[2 * id + 1]}, row);
            }
        }
    }

    @Test
    void closeIsIdempotentAndUseAfterwardsAnIllegalState() {
        Bundle bundle = Bundle.open(write(JSON));
        EmbeddingTable table = bundle.embedding();
        bundle.close();
        bundle.close();
        assertThrows(IllegalStateException.class, () -> bundle.function("decode_16"));
        assertThrows(IllegalStateException.class, bundle::weights);
        assertThrows(IllegalStateException.class, bundle::embedding);
        assertThrows(IllegalStateException.class, () -> table.lookup(0, new float[2]));
    }

    @ParameterizedTest
    @ValueSource(strings = {"manifest.json", "model.mil", "weights/weight.bin"})
    void aMissingFileIsNamed(String name) throws IOException {
        Files.delete(write(JSON).resolve(name));
        assertRefused(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"manifest.json", "model.mil", "weights/weight.bin"})
    void anEmptyFileIsNamed(String name) throws IOException {
        Files.write(write(JSON).resolve(name), new byte[0]);
        assertRefused(name);
    }

    private void assertRefused(String part) {
        TorchAneException e = assertThrows(TorchAneException.class, () -> openWhole(folder));
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    private static void openWhole(Path directory) {
        try (Bundle bundle = Bundle.open(directory)) {
            bundle.program();
        }
    }

    @Test
    void aProgramOfOtherWeightsIsRefused() throws IOException {
        Path text = write(JSON).resolve("model.mil");
        Files.writeString(text, Files.readString(text).replace("uint64(320)", "uint64(64)"));
        assertRefused("program and weights do not belong together");
    }

    @Test
    void pathsDoNotLeaveTheBundle() throws IOException {
        Path text = write(JSON).resolve("model.mil");
        Files.writeString(text, Files.readString(text).replace("@model_path/weights", "@model_path/../weights"));
        assertRefused("paths do not leave a bundle");
        try (Bundle bundle = Bundle.open(folder)) {
            assertThrows(TorchAneException.class, () -> bundle.file("../secret"));
            assertThrows(TorchAneException.class, () -> bundle.file("/etc/hostname"));
            assertThrows(TorchAneException.class, () -> bundle.file("a\0b"));
        }
    }

    @Test
    void symbolicLinksDoNotLeaveTheBundle(@TempDir Path elsewhere) throws IOException {
        Path weights = write(JSON).resolve("weights/weight.bin");
        Path moved = Files.move(weights, elsewhere.resolve("weight.bin"));
        Files.createSymbolicLink(weights, moved);
        assertRefused("leads out of the bundle");
    }

    @Test
    void whatIsNoDirectoryIsNoBundle() {
        TorchAneException e = assertThrows(TorchAneException.class, () -> Bundle.open(folder.resolve("nowhere")));
        assertTrue(e.getMessage().contains("is not a bundle: it does not exist"), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            "format": 1                 | "format": 2            | expected format to be a bundle of format 1, found 2
            "format": 1                 | "format": 1, "format": 1 | Duplicate
            "kind": "causal-lm"         | "kind": "speech"       | expected kind to be 'causal-lm' or 'module', found 'speech'
            "vocab": 3                  | "vocab": "3"           | expected model.vocab to be an integer of at least 1, found 3
            "vocab": 3                  | "vocab": 4             | expected embedding to be at least 4 rows of 2 columns
            "vocab": 3                  | "vocab": 99999999999   | expected model.vocab to be an integer
            "vocab": 3,                 | ''                     | expected model.vocab to be an integer of at least 1, found nothing
            "ladder": [16, 32]          | "ladder": [32, 16]     | expected model.ladder to be rungs that ascend
            "ladder": [16, 32]          | "ladder": [16, 36]     | expected model.ladder to be rungs of whole decode windows
            "ladder": [16, 32]          | "ladder": []           | expected model.ladder to be rungs that hold windows
            "ladder": [16, 32]          | "ladder": [16, null]   | expected model.ladder to be an integer
            "maxLen": 32                | "maxLen": 33           | and reach maxLen 33
            "kvHeads": 2                | "kvHeads": 3           | expected model.kvHeads to be a divisor of the 4 heads
            [1.0, 0.01]                 | [1.0]                  | expected rope.global.inverseFrequencies
            [1.0, 0.01]                 | [1.0, "x"]             | expected rope.global.inverseFrequencies
            "scale": 192                | "scale": null          | expected embedding.scale to be an offset for int8
            "encoding": "int8"          | "encoding": "int4"     | expected embedding.encoding to be one of [fp32, fp16, int8, q4_0,
            "encoding": "int8"          | "encoding": "q4_0"     | expected embedding.columns to be whole blocks of 32 for q4_0, found 2
            "shape": [2, 2]             | "shape": 4             | expected weights[0].shape to be a list
            "target": "cpu"             | "target": {}           | expected target to be a string
            "weights": [{               | "weights": [1, {       | expected weights[0] to be an object, found 1
            "rowAxes": {"emb": 1        | "rowAxes": {"emb": -1  | expected rowAxes.emb to be an integer of at least 0
            "build": {                  | "build": }{            | not JSON
            """)
    void brokenManifestsAreRefusedByField(String part, String replacement, String message) {
        String json = JSON.replace(part, replacement == null ? "" : replacement);
        assertTrue(!json.equals(JSON), "nothing was replaced");
        TorchAneException e = assertThrows(TorchAneException.class, () -> Manifest.parse(json));
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    @Test
    void mutatedManifestsAreReadOrRefusedButNeverFail() {
        Random random = new Random(3);
        String alphabet = "{}[]\",:0-9.etn \\";
        for (int i = 0; i < 3000; i++) {
            StringBuilder json = new StringBuilder(JSON);
            json.setCharAt(random.nextInt(json.length()), alphabet.charAt(random.nextInt(alphabet.length())));
            if (i % 5 == 0) {
                json.setLength(random.nextInt(json.length()));
            }
            try {
                Manifest.parse(json.toString());
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().startsWith("manifest"), expected.getMessage());
            }
        }
    }

    @Test
    void aFunctionIsSummarised() {
        Function function = SamplePrograms.languageModel(2, 16).function("decode_16");
        FunctionSummary summary = FunctionSummary.of(function);
        assertEquals(4, summary.groups().get("rope"));
        assertEquals(2, summary.groups().get("sdpa"));
        assertEquals(14, summary.operations().get("linear"));
        assertEquals(null, summary.operations().get("const"));
        assertTrue(summary.weightBytes().get(DType.FP32) > 0);
        assertTrue(summary.constants() > 5);
    }
}
