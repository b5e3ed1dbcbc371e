package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cli.DemoModel;
import dev.torchane.venv.InstallProgress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** SmolLM2-135M in fp32: the bundle on the jvm engine beside transformers on torch, in one process, on the same weights. */
class RealWeightsTest {

    private static final int STEPS = 64;
    private static final double TOLERANCE = 2e-3;

    private static final List<String> PROMPTS = List.of(
            "What is the capital of France?",
            "Explain why the sky is blue.",
            "Write a haiku about autumn.",
            "List three uses of a paperclip.",
            "Translate 'good morning' into Spanish.",
            "What is 12 times 12?",
            "Who wrote Romeo and Juliet?",
            "Give me a recipe for pancakes.",
            "def fibonacci(n):",
            "Summarise the plot of Moby Dick in one sentence.");

    /** Ids of a prompt and its continuation by the bundle, and the logits that chose each new one. */
    private record Stream(int[] ids, int promptLength, List<float[]> logits) {}

    @Test
    void sixty_four_greedy_tokens_of_ten_prompts_are_torchs() {
        Path gguf = DemoModel.fetch(InstallProgress.none());
        CausalLMOptions options = CausalLMOptions.builder()
                .weights(WeightEncoding.FP32)
                .maxLen(256)
                .prefillWindow(64)
                .build();
        List<Stream> streams;
        try (CausalLM lm = CausalLM.fromPretrained(gguf, options)) {
            streams = PROMPTS.stream().map(prompt -> generate(lm, prompt)).toList();
        }
        List<float[]> torch =
                TinyBundles.eagerOfEach(gguf, streams.stream().map(Stream::ids).toList());

        for (int i = 0; i < streams.size(); i++) {
            compare(PROMPTS.get(i), streams.get(i), torch.get(i));
        }
    }

    private static Stream generate(CausalLM lm, String prompt) {
        lm.reset();
        int[] ids = lm.encode(prompt, false);
        int length = ids.length;
        List<float[]> logits = new ArrayList<>();
        logits.add(lm.feed(ids));
        for (int step = 1; step < STEPS; step++) {
            int next = TinyBundles.largest(logits.getLast());
            ids = Arrays.copyOf(ids, ids.length + 1);
            ids[ids.length - 1] = next;
            logits.add(lm.feed(next));
        }
        return new Stream(ids, length, logits);
    }

    private static void compare(String prompt, Stream stream, float[] torch) {
        int vocab = torch.length / stream.ids().length;
        for (int step = 0; step < STEPS; step++) {
            int row = stream.promptLength() - 1 + step;
            float[] expected = Arrays.copyOfRange(torch, row * vocab, (row + 1) * vocab);
            float[] found = stream.logits().get(step);
            double difference = TinyBundles.difference(expected, found);
            assertTrue(difference <= TOLERANCE, "'" + prompt + "', step " + step + ": logits differ by " + difference);
            float gap = expected[TinyBundles.largest(expected)] - expected[TinyBundles.largest(found)];
            assertTrue(
                    gap <= difference, "'" + prompt + "', step " + step + ": another token, not by a near tie: " + gap);
        }
    }
}
