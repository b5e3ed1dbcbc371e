package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.BatchRequest;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.TorchAneException;
import dev.torchane.build.Progress;
import dev.torchane.build.WeightEncoding;
import dev.torchane.llm.Logprob;
import dev.torchane.llm.TokenLogprobs;
import dev.torchane.program.Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tiny checkpoints through the public API, against torch. */
class FromCheckpointToTokensTest {

    private static final int[] PROMPT = TinyModel.prompt();

    @TempDir
    Path folder;

    @Test
    void aContextShorterThanThePrefillWindowOpenedAgainAndAgainFromTwoThreads() throws Exception {
        Path llama = TinyModel.LLAMA.write(folder.resolve("llama"), 20);
        Path qwen = TinyModel.QWEN3.write(folder.resolve("qwen"), 21);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Generation>> found = List.of(llama, qwen).stream()
                    .map(each -> threads.submit(() -> openedThreeTimes(each)))
                    .toList();
            assertIsTorchs(llama, found.getFirst().get());
            assertIsTorchs(qwen, found.getLast().get());
        }
    }

    private Generation openedThreeTimes(Path checkpoint) {
        CausalLMOptions options = CausalLMOptions.builder()
                .maxLen(128)
                .weights(WeightEncoding.FP32)
                .cache(folder.resolve("cache"))
                .build();
        Generation first = null;
        for (int round = 0; round < 3; round++) {
            try (CausalLM lm = CausalLM.fromPretrained(checkpoint, options)) {
                assertEquals(128, lm.maxLen());
                assertEquals(128, lm.manifest().model().prefillWindow());
                Generation generation = lm.generate(
                        PROMPT, GenerateOptions.defaults().withMaxNewTokens(8).withLogprobs(5));
                assertArrayEquals(round == 0 ? generation.ids() : first.ids(), generation.ids());
                first = generation;
            }
        }
        return first;
    }

    @Test
    void eachStreamOfABatchIsGivenTheTokensThatTorchGivesItAlone() {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("llama"), 24);
        CausalLMOptions options = CausalLMOptions.builder()
                .maxLen(64)
                .prefillWindow(16)
                .ladder(32)
                .weights(WeightEncoding.FP32)
                .cache(folder.resolve("cache"))
                .build();
        List<int[]> prompts = IntStream.range(0, 9)
                .mapToObj(i -> Arrays.copyOf(PROMPT, 3 + 2 * i))
                .toList();
        try (CausalLM lm = CausalLM.fromPretrained(checkpoint, options)) {
            GenerateOptions eight = GenerateOptions.defaults().withMaxNewTokens(8);
            List<Generation> found = lm.generateBatch(prompts.stream()
                    .map(prompt -> BatchRequest.of(prompt, eight))
                    .toList());
            for (int i = 0; i < prompts.size(); i++) {
                assertArrayEquals(
                        lm.generate(prompts.get(i), eight).ids(), found.get(i).ids());
            }
            for (int i : new int[] {0, 8}) {
                int[] ids = found.get(i).ids();
                int[] torchs = TinyBundles.eagerGreedy(checkpoint, prompts.get(i), 8);
                assertArrayEquals(Arrays.copyOf(torchs, ids.length), ids);
            }
        }
    }

    /** Greedy ids and the log probabilities of each step's likeliest tokens; a generation may end at an end-of-sequence token. */
    private static void assertIsTorchs(Path checkpoint, Generation generation) {
        int[] ids = generation.ids();
        assertTrue(ids.length > 0);
        assertArrayEquals(Arrays.copyOf(TinyBundles.eagerGreedy(checkpoint, PROMPT, 8), ids.length), ids);
        int[] whole =
                IntStream.concat(Arrays.stream(PROMPT), Arrays.stream(ids)).toArray();
        List<float[]> logits = TinyBundles.eager(
                checkpoint,
                IntStream.range(0, ids.length)
                        .mapToObj(step -> Arrays.copyOf(whole, PROMPT.length + step))
                        .toList());
        for (int step = 0; step < ids.length; step++) {
            TokenLogprobs found = generation.logprobs().get(step);
            assertEquals(ids[step], found.chosen().id());
            assertEquals(5, found.top().size());
            assertEquals(found.chosen(), found.top().getFirst());
            for (Logprob logprob : found.top()) {
                assertEquals(TinyBundles.logprob(logits.get(step), logprob.id()), logprob.value(), 2e-3);
            }
        }
    }

    @Test
    void aPythonErrorInTheMiddleOfAnExportLeavesNoBundleAndAUsableHost() throws IOException {
        Path checkpoint = TinyModel.LLAMA.write(folder.resolve("checkpoint"), 23);
        Path config = checkpoint.resolve("config.json");
        String sound = Files.readString(config);
        Files.writeString(config, sound.replaceFirst("\\{", "{\"hidden_act\": \"mish\","));
        Path failed = folder.resolve("failed");

        TorchAneException e = assertThrows(
                TorchAneException.class,
                () -> new GraalPyExporter()
                        .exportCausalLM(checkpoint, TinyBundles.FP32, Files.createDirectory(failed), Progress.none()));
        assertTrue(e.getMessage().contains("aten.mish"), e.getMessage());
        assertTrue(e.getMessage().contains("mlp"), e.getMessage());
        assertTrue(
                e.getCause().getMessage().startsWith("Traceback"), e.getCause().getMessage());
        assertFalse(Files.exists(failed.resolve(Bundle.MANIFEST)));

        Files.writeString(config, sound);
        Bundle.open(TinyBundles.export(checkpoint, TinyBundles.FP32, folder)).close();
    }
}
