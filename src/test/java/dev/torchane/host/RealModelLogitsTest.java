package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.WeightEncoding;
import dev.torchane.cli.DemoModel;
import dev.torchane.engine.Numerics;
import dev.torchane.program.DType;
import dev.torchane.text.Tokenizer;
import dev.torchane.venv.InstallProgress;
import dev.torchane.weights.Checkpoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.Value;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SmolLM2-135M with its real weights, against transformers on torch in the same process. */
class RealModelLogitsTest {

    private static final List<String> PROMPTS = List.of(
            "The capital of France is",
            "Once upon a time, in a village by the sea,",
            "def fibonacci(n):\n",
            "Water boils at 100 degrees Celsius because",
            "Dear Sir or Madam,\n\nI am writing to",
            "1, 1, 2, 3, 5, 8, 13,",
            "The three laws of thermodynamics are",
            "Im Jahr 1969 landete",
            "Q: Why is the sky blue?\nA:",
            "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n");

    private static final BuildOptions ONE_RUNG =
            BuildOptions.defaults().withMaxLen(128).withPrefillWindow(64).withLadder(List.of());

    private static final String SOURCE = """
            import torch


            @torch.no_grad()
            def logits(model, ids):
                answer = model(input_ids=torch.tensor([list(ids)])).logits[0]
                return answer.float().contiguous()
            """;

    @HostAccess.Implementable
    interface Reference {
        PythonTensor logits(Value model, List<Integer> ids);
    }

    @TempDir
    Path folder;

    @Test
    void anFp32ProgramGivesTorchsLogitsAndTokens() {
        compare(ONE_RUNG.withWeights(WeightEncoding.FP32), Numerics.FP32, PROMPTS, 64, 2e-3);
    }

    @Test
    void theFilesOwnBlocksGiveTorchsLogitsAndTokens() {
        compare(ONE_RUNG.withWeights(WeightEncoding.STORED), Numerics.FP32, PROMPTS, 64, 2e-3);
    }

    @Test
    @Tag("full")
    void anFp16ProgramOnFp16HardwareGivesTorchsLogitsAndTokens() {
        BuildOptions options = ONE_RUNG.withPrecision(DType.FP16).withWeights(WeightEncoding.FP16);
        compare(options, Numerics.DECLARED, PROMPTS.subList(0, 3), 8, 5e-2);
    }

    private void compare(BuildOptions options, Numerics numerics, List<String> prompts, int count, double tolerance) {
        Path gguf = DemoModel.fetch(InstallProgress.none());
        Path bundle = TinyBundles.export(gguf, options, folder);
        List<int[]> ids;
        try (Tokenizer tokenizer = Tokenizer.open(bundle)) {
            ids = prompts.stream().map(tokenizer::encode).toList();
        }
        List<TinyBundles.Greedy> found = TinyBundles.greedy(bundle, numerics, ids, count);
        double worst = SharedHost.get().call(python -> {
            ExporterModule module = python.module(ExporterModule.NAME, ExporterModule.class);
            Reference reference = python.define(SOURCE, Reference.class);
            try (Checkpoint checkpoint = Checkpoint.open(gguf, Checkpoint.Access.COPY_ON_WRITE);
                    CheckpointTensors tensors = new CheckpointTensors(checkpoint)) {
                Value model = module.load_causal_lm(checkpoint.configJson(), tensors);
                return IntStream.range(0, ids.size())
                        .mapToDouble(i -> difference(prompts.get(i), ids.get(i), found.get(i), reference, model))
                        .max()
                        .orElseThrow();
            }
        });
        System.out.printf("%s %s: the largest difference of a logit is %.2g%n", options.weights(), numerics, worst);
        assertTrue(worst <= tolerance, "the logits differ by " + worst);
    }

    /** The largest difference of a logit at any step, having checked that torch chooses the same tokens. */
    private static double difference(
            String prompt, int[] ids, TinyBundles.Greedy found, Reference reference, Value model) {
        int count = found.ids().length;
        int[] fed = IntStream.concat(
                        IntStream.of(ids), IntStream.of(found.ids()).limit(count - 1))
                .toArray();
        PythonTensor tensor = reference.logits(model, IntStream.of(fed).boxed().toList());
        MemorySegment rows = NativeMemory.of(tensor);
        double worst = 0;
        for (int step = 0; step < count; step++) {
            float[] logits = found.logits().get(step);
            long row = ids.length - 1L + step;
            float[] expected =
                    rows.asSlice(row * logits.length * 4, logits.length * 4L).toArray(ValueLayout.JAVA_FLOAT);
            double difference = TinyBundles.difference(logits, expected);
            int choice = TinyBundles.largest(expected);
            double lead = expected[choice] - expected[found.ids()[step]];
            assertTrue(
                    lead <= 2 * difference,
                    "'" + prompt + "': step " + step + " chose " + found.ids()[step] + ", torch " + choice + ", by "
                            + lead);
            worst = Math.max(worst, difference);
        }
        return worst;
    }
}
