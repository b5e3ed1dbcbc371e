package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import dev.torchane.build.BuildOptions;
import dev.torchane.build.Exporter;
import dev.torchane.build.Progress;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Numerics;
import dev.torchane.program.Bundle;
import dev.torchane.program.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.graalvm.polyglot.HostAccess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExportTest {

    /** Longer than a prefill window and a rung, so that every function runs. */
    private static final int[] PROMPT =
            IntStream.range(0, 45).map(i -> (i * 37 + 11) % TinyModel.VOCAB).toArray();

    private static final List<Integer> CUTS = List.of(5, 6, 30, 45);

    @TempDir
    static Path shared;

    private static final Map<TinyModel, Path> CHECKPOINTS = new EnumMap<>(TinyModel.class);
    private static final Map<TinyModel, Path> FP32_BUNDLES = new EnumMap<>(TinyModel.class);

    @TempDir
    Path folder;

    private static Path checkpoint(TinyModel model) {
        return CHECKPOINTS.computeIfAbsent(model, each -> each.write(shared.resolve(each.name()), 1));
    }

    /** Built once, for every test that only reads it. */
    private static Path fp32Bundle(TinyModel model) {
        return FP32_BUNDLES.computeIfAbsent(
                model, each -> TinyBundles.export(checkpoint(each), TinyBundles.FP32, shared));
    }

    @ParameterizedTest
    @EnumSource
    void anFp32ProgramGivesTorchsLogits(TinyModel model) {
        assertClose(checkpoint(model), TinyBundles.run(fp32Bundle(model), Numerics.FP32, chunks()), 2e-3);
    }

    @ParameterizedTest
    @EnumSource
    void anFp16ProgramGivesTorchsLogitsOnFp16Hardware(TinyModel model) {
        Path bundle = TinyBundles.export(checkpoint(model), TinyBundles.FP16, folder);

        assertClose(checkpoint(model), TinyBundles.run(bundle, Numerics.DECLARED, chunks()), 5e-2);
    }

    @ParameterizedTest
    @EnumSource
    void greedyGenerationChoosesTorchsTokens(TinyModel model) {
        int[] prompt = Arrays.copyOf(PROMPT, 9);

        assertArrayEquals(
                TinyBundles.eagerGreedy(checkpoint(model), prompt, 10),
                TinyBundles.greedy(fp32Bundle(model), Numerics.FP32, List.of(prompt), 10)
                        .getFirst()
                        .ids());
    }

    @Test
    void theManifestTellsWhatWasStored() {
        Path checkpoint = TinyModel.QWEN2.write(folder.resolve("checkpoint"), 4);
        Path directory = TinyBundles.export(checkpoint, TinyBundles.INT8, folder);

        try (Bundle bundle = Bundle.open(directory)) {
            Manifest manifest = bundle.manifest();
            assertEquals("checkpoint", manifest.source().name());
            assertEquals("Qwen2ForCausalLM", manifest.model().architecture());
            assertEquals(List.of(32, 64), manifest.model().ladder());
            assertEquals(64, manifest.model().maxLen());
            assertEquals(
                    List.of("prefill_32", "decode_32", "batch_32", "prefill_64", "decode_64", "batch_64"),
                    bundle.functionNames());
            assertTrue(manifest.versions().keySet().containsAll(List.of("torch-ane", "passes", "torch", "graalpy")));
            Manifest.Weight query = weight(manifest, "model.layers.0.self_attn.q_proj.weight");
            assertEquals("int8", query.encoding());
            assertEquals(32 * 32 + 32 * 4, query.bytes());
            assertTrue(query.maxError() > 0 && query.maxError() < 0.01, "error " + query.maxError());
            assertEquals("fp32", weight(manifest, "model.norm.weight").encoding());
            assertTrue(
                    manifest.weights().stream().noneMatch(each -> each.name().equals("lm_head.weight")),
                    "a tied head is stored once");
        }
    }

    @Test
    void exportsOfTheSameModelAreTheSameBytesWheneverCollectionsHappen() throws IOException {
        assertSameBytes(5);
    }

    @Test
    @Tag("full")
    void fiftyExportsOfTheSameModelAreTheSameBytesWheneverCollectionsHappen() throws IOException {
        assertSameBytes(50);
    }

    private void assertSameBytes(int times) throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 5);
        byte[] program = null;
        byte[] weights = null;
        for (int i = 0; i < times; i++) {
            Path bundle = TinyBundles.export(checkpoint, TinyBundles.FP32, folder, collecting());
            byte[] nextProgram = Files.readAllBytes(bundle.resolve(Bundle.PROGRAM));
            byte[] nextWeights = Files.readAllBytes(bundle.resolve(Bundle.WEIGHTS));
            if (i > 0) {
                assertArrayEquals(program, nextProgram, "program of export " + i);
                assertArrayEquals(weights, nextWeights, "weights of export " + i);
            }
            program = nextProgram;
            weights = nextWeights;
        }
    }

    /** Forces a collection at the beginning of each stage. */
    private static Progress collecting() {
        return new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {
                System.gc();
            }

            @Override
            public void done(long units) {}
        };
    }

    @Test
    void twoModelsBuiltFromTwoThreadsDoNotMeet() throws Exception {
        Path llama = TinyModel.LLAMA.write(folder.resolve("llama"), 10);
        Path qwen = TinyModel.QWEN3.write(folder.resolve("qwen"), 11);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Path> first = threads.submit(() -> TinyBundles.export(llama, TinyBundles.FP32, folder));
            Future<Path> second = threads.submit(() -> TinyBundles.export(qwen, TinyBundles.FP32, folder));

            assertClose(llama, TinyBundles.run(first.get(), Numerics.FP32, chunks()), 2e-3);
            assertClose(qwen, TinyBundles.run(second.get(), Numerics.FP32, chunks()), 2e-3);
        }
    }

    @Test
    void anErrorInTheMiddleLeavesNoBundleAndAUsableHost() {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 6);
        TorchAneException cancelled = new TorchAneException("enough");
        Progress stopping = new Progress() {
            @Override
            public void stage(String stage, long total, String unit) {
                if (stage.contains("decode_64")) {
                    throw cancelled;
                }
            }

            @Override
            public void done(long units) {}
        };

        assertSame(
                cancelled,
                assertThrows(
                        TorchAneException.class,
                        () -> new GraalPyExporter().exportCausalLM(checkpoint, TinyBundles.FP32, folder, stopping)));
        assertFalse(Files.exists(folder.resolve(Bundle.MANIFEST)));
        assertThrows(TorchAneException.class, () -> Bundle.open(folder));

        Bundle.open(TinyBundles.export(checkpoint, TinyBundles.FP32, folder)).close();
    }

    @Test
    void aDamagedCheckpointIsRefusedByTensorName() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 7);
        Path config = checkpoint.resolve("config.json");
        Files.writeString(
                config, Files.readString(config).replace("\"intermediate_size\" : 48", "\"intermediate_size\" : 40"));

        TorchAneException e =
                assertThrows(TorchAneException.class, () -> TinyBundles.export(checkpoint, TinyBundles.FP32, folder));
        assertTrue(e.getMessage().contains("mlp.gate_proj.weight"), e.getMessage());
        assertTrue(
                e.getCause().getMessage().startsWith("Traceback"), e.getCause().getMessage());
    }

    @Test
    void aModelsOwnCodeIsNeverRun() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 8);
        Path config = checkpoint.resolve("config.json");
        Files.writeString(
                config,
                Files.readString(config)
                        .replace(
                                "\"model_type\" : \"llama\"",
                                "\"model_type\" : \"mine\", \"auto_map\" : {\"AutoModelForCausalLM\" : \"mine.Model\"}"));
        Files.writeString(checkpoint.resolve("mine.py"), "raise SystemExit('ran')");

        TorchAneException e =
                assertThrows(TorchAneException.class, () -> TinyBundles.export(checkpoint, TinyBundles.FP32, folder));
        assertTrue(e.getMessage().contains("'mine'"), e.getMessage());
        assertTrue(e.getMessage().contains("never run"), e.getMessage());
    }

    @Test
    void aContextBeyondTheModelsOwnIsRefusedBeforePythonStarts() {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 9);
        BuildOptions options = TinyBundles.FP32.withMaxLen(4096);

        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> TinyBundles.export(checkpoint, options, folder));
        assertTrue(e.getMessage().contains("256"), e.getMessage());
    }

    @Test
    void fp32WeightsInAnFp16ProgramAreRefusedBeforePythonStarts() {
        BuildOptions options = TinyBundles.FP16.withWeights(WeightEncoding.FP32);

        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class, () -> TinyBundles.export(folder.resolve("absent"), options, folder));
        assertTrue(e.getMessage().contains("choose weights fp16 or int8"), e.getMessage());
    }

    @HostAccess.Implementable
    interface FakeConstant {
        String refusal();
    }

    @Test
    void aGraphWithAFakeTensorAmongItsConstantsIsRefused() {
        String source = """
                import torch
                from torch._subclasses.fake_tensor import FakeTensorMode

                from torch_ane.export import ExportError, graph_of


                class Scale(torch.nn.Module):
                    def forward(self, x):
                        return x * torch.tensor(2.0)


                def refusal():
                    with torch.no_grad():
                        program = torch.export.export_for_training(Scale(), (torch.ones(3),), strict=False)
                    assert len(program.constants) == 1, program.constants
                    graph_of(program)
                    for name, value in list(program.constants.items()):
                        program.constants[name] = FakeTensorMode().from_tensor(torch.zeros(()))
                    try:
                        graph_of(program)
                    except ExportError as error:
                        return str(error)
                    return "accepted"
                """;

        String refusal = SharedHost.get()
                .call(python -> python.define(source, FakeConstant.class).refusal());
        assertTrue(refusal.contains("is a FakeTensor"), refusal);
    }

    @Test
    void theExporterIsFoundAndTellsItsVersions() {
        Exporter exporter = ServiceLoader.load(Exporter.class).findFirst().orElseThrow();

        assertTrue(
                exporter.version()
                        .matches("torch-ane .*, passes .*, torch 2\\..*, transformers 5\\..*, graalpy 25\\..*"),
                exporter.version());
    }

    private static Manifest.Weight weight(Manifest manifest, String name) {
        return manifest.weights().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static List<int[]> chunks() {
        return IntStream.range(0, CUTS.size())
                .mapToObj(i -> Arrays.copyOfRange(PROMPT, i == 0 ? 0 : CUTS.get(i - 1), CUTS.get(i)))
                .toList();
    }

    private static void assertClose(Path checkpoint, List<float[]> found, double tolerance) {
        List<float[]> expected = TinyBundles.eager(
                checkpoint, CUTS.stream().map(cut -> Arrays.copyOf(PROMPT, cut)).toList());
        for (int i = 0; i < CUTS.size(); i++) {
            double difference = TinyBundles.difference(expected.get(i), found.get(i));
            assertTrue(difference <= tolerance, "after " + CUTS.get(i) + " tokens the logits differ by " + difference);
        }
    }
}
