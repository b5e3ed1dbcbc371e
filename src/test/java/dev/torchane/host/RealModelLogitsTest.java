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
import java.util.function.BiFunction;
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
            import copy

            import torch


            @torch.no_grad()
            def logits(model, ids):
                answer = model(input_ids=torch.tensor([list(ids)])).logits[0]
                return answer.float().contiguous()


            def half(model):
                return copy.deepcopy(model).half()


            def rounded(model):
                return half(model).float()
            """;

    @HostAccess.Implementable
    interface Reference {
        PythonTensor logits(Value model, List<Integer> ids);

        /** The model with weights and activations of fp16. */
        Value half(Value model);

        /** The model with weights rounded to fp16 and activations of fp32. */
        Value rounded(Value model);
    }

    @TempDir
    Path folder;

    @Test
    void anFp32ProgramGivesTorchsLogitsAndTokens() {
        BuildOptions options = ONE_RUNG.withWeights(WeightEncoding.FP32);
        assertTrue(compare(options, Numerics.FP32, PROMPTS, 64, (_, model) -> model).ours <= 2e-3);
    }

    @Test
    void theFilesOwnBlocksGiveTorchsLogitsAndTokens() {
        BuildOptions options = ONE_RUNG.withWeights(WeightEncoding.STORED);
        assertTrue(compare(options, Numerics.FP32, PROMPTS, 64, (_, model) -> model).ours <= 2e-3);
    }

    /** This model's logits reach 42, where fp16's numbers are 1/32 apart: what torch's own fp16 loses is the measure. */
    @Test
    @Tag("full")
    void anFp16ProgramOnFp16HardwareGivesTorchsTokensAndLosesAboutWhatTorchDoesInFp16() {
        BuildOptions options = ONE_RUNG.withPrecision(DType.FP16).withWeights(WeightEncoding.FP16);
        Differences found = compare(options, Numerics.DECLARED, PROMPTS.subList(0, 3), 8, Reference::rounded);
        assertTrue(found.ours <= Math.max(5e-2, 1.5 * found.torchsHalf), found.toString());
    }

    /** The largest differences of a logit, ours and that of torch in fp16, from torch in fp32 with the same weights. */
    private record Differences(double ours, double torchsHalf) {}

    private Differences compare(
            BuildOptions options,
            Numerics numerics,
            List<String> prompts,
            int count,
            BiFunction<Reference, Value, Value> sameWeights) {
        Path gguf = DemoModel.fetch(InstallProgress.none());
        Path bundle = TinyBundles.export(gguf, options, folder);
        List<int[]> ids;
        try (Tokenizer tokenizer = Tokenizer.open(bundle)) {
            ids = prompts.stream().map(tokenizer::encode).toList();
        }
        List<TinyBundles.Greedy> found = TinyBundles.greedy(bundle, numerics, ids, count);
        Differences worst = SharedHost.get().call(python -> {
            ExporterModule module = python.module(ExporterModule.NAME, ExporterModule.class);
            Reference reference = python.define(SOURCE, Reference.class);
            try (Checkpoint checkpoint = Checkpoint.open(gguf, Checkpoint.Access.COPY_ON_WRITE);
                    CheckpointTensors tensors = new CheckpointTensors(checkpoint)) {
                Value loaded = module.load_causal_lm(checkpoint.configJson(), tensors);
                Value model = sameWeights.apply(reference, loaded);
                boolean fp16 = options.precision() == DType.FP16;
                Value half = fp16 ? reference.half(loaded) : loaded;
                double ours = 0;
                double torchs = 0;
                for (int i = 0; i < ids.size(); i++) {
                    int[] fed = fed(ids.get(i), found.get(i).ids());
                    List<float[]> expected = logits(reference, model, fed, ids.get(i).length);
                    ours = Math.max(ours, difference(prompts.get(i), found.get(i), expected));
                    if (fp16) {
                        torchs =
                                Math.max(torchs, difference(logits(reference, half, fed, ids.get(i).length), expected));
                    }
                }
                return new Differences(ours, torchs);
            }
        });
        System.out.printf("%s %s: %s%n", options.weights(), numerics, worst);
        return worst;
    }

    /** The prompt and all but the last of the tokens that followed. */
    private static int[] fed(int[] prompt, int[] found) {
        return IntStream.concat(IntStream.of(prompt), IntStream.of(found).limit(found.length - 1))
                .toArray();
    }

    /** Torch's logits of each token behind the prompt. */
    private static List<float[]> logits(Reference reference, Value model, int[] fed, int prompt) {
        PythonTensor tensor = reference.logits(model, IntStream.of(fed).boxed().toList());
        MemorySegment rows = NativeMemory.of(tensor);
        long bytes = rows.byteSize() / fed.length;
        return IntStream.range(prompt - 1, fed.length)
                .mapToObj(row -> rows.asSlice(row * bytes, bytes).toArray(ValueLayout.JAVA_FLOAT))
                .toList();
    }

    private static double difference(List<float[]> found, List<float[]> expected) {
        return IntStream.range(0, expected.size())
                .mapToDouble(step -> TinyBundles.difference(found.get(step), expected.get(step)))
                .max()
                .orElseThrow();
    }

    /** The largest difference of a logit at any step, having checked that torch chooses the same tokens. */
    private static double difference(String prompt, TinyBundles.Greedy found, List<float[]> expected) {
        for (int step = 0; step < expected.size(); step++) {
            float[] logits = expected.get(step);
            int choice = TinyBundles.largest(logits);
            double lead = logits[choice] - logits[found.ids()[step]];
            assertTrue(
                    lead <= 2 * TinyBundles.difference(found.logits().get(step), logits),
                    "'" + prompt + "': step " + step + " chose " + found.ids()[step] + ", torch " + choice + ", by "
                            + lead);
        }
        return difference(found.logits(), expected);
    }
}
