package dev.torchane.host;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.Progress;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.llm.KvState;
import dev.torchane.llm.LanguageModel;
import dev.torchane.llm.ModelShape;
import dev.torchane.program.Bundle;
import dev.torchane.program.DType;
import dev.torchane.weights.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.graalvm.polyglot.Value;

/** Builds tiny checkpoints, runs their bundles on the jvm engine, and asks torch for the same. */
final class TinyBundles {

    static final BuildOptions FP32 = BuildOptions.defaults()
            .withWeights(WeightEncoding.FP32)
            .withMaxLen(64)
            .withPrefillWindow(16)
            .withLadder(List.of(32));
    static final BuildOptions FP16 = FP32.withPrecision(DType.FP16).withWeights(WeightEncoding.FP16);
    static final BuildOptions INT8 = FP32.withWeights(WeightEncoding.INT8);

    private TinyBundles() {}

    /** Exports a checkpoint into a new directory below {@code folder}. */
    static Path export(Path checkpoint, BuildOptions options, Path folder) {
        return export(checkpoint, options, folder, Progress.none());
    }

    static Path export(Path checkpoint, BuildOptions options, Path folder, Progress progress) {
        try {
            Path bundle = Files.createTempDirectory(folder, "bundle");
            new GraalPyExporter().exportCausalLM(checkpoint, options, bundle, progress);
            return bundle;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Logits of the bundle after feeding each chunk of ids, one after another. */
    static List<float[]> run(Path directory, Numerics numerics, List<int[]> chunks) {
        try (Bundle bundle = Bundle.open(directory);
                LoadedProgram program = Engine.named("jvm")
                        .load(bundle, EngineOptions.defaults().withNumerics(numerics))) {
            LanguageModel model =
                    new LanguageModel(program, ModelShape.of(bundle.manifest()), bundle.embedding()::lookup);
            try (KvState state = model.newState()) {
                return chunks.stream()
                        .map(ids -> model.feed(state, ids, _ -> {}))
                        .toList();
            }
        }
    }

    /** A greedy continuation, with the logits that each of its tokens was chosen from. */
    record Greedy(int[] ids, List<float[]> logits) {}

    /** Greedy continuations by the bundle. */
    static List<Greedy> greedy(Path directory, Numerics numerics, List<int[]> prompts, int count) {
        try (Bundle bundle = Bundle.open(directory);
                LoadedProgram program = Engine.named("jvm")
                        .load(bundle, EngineOptions.defaults().withNumerics(numerics))) {
            LanguageModel model =
                    new LanguageModel(program, ModelShape.of(bundle.manifest()), bundle.embedding()::lookup);
            return prompts.stream().map(prompt -> greedy(model, prompt, count)).toList();
        }
    }

    private static Greedy greedy(LanguageModel model, int[] prompt, int count) {
        try (KvState state = model.newState()) {
            int[] ids = new int[count];
            List<float[]> logits = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                logits.add(model.feed(state, i == 0 ? prompt : new int[] {ids[i - 1]}, _ -> {}));
                ids[i] = largest(logits.getLast());
            }
            return new Greedy(ids, logits);
        }
    }

    /** Logits by transformers on torch after each of the prefixes. */
    static List<float[]> eager(Path checkpoint, List<int[]> prefixes) {
        return withEager(
                checkpoint, eager -> prefixes.stream().map(eager::after).toList());
    }

    /** Greedy continuation by transformers on torch. */
    static int[] eagerGreedy(Path checkpoint, int[] prompt, int count) {
        return withEager(checkpoint, eager -> {
            int[] ids = Arrays.copyOf(prompt, prompt.length + count);
            for (int i = prompt.length; i < ids.length; i++) {
                ids[i] = largest(eager.after(Arrays.copyOf(ids, i)));
            }
            return Arrays.copyOfRange(ids, prompt.length, ids.length);
        });
    }

    static int largest(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }

    /** Log probability of an id. */
    static double logprob(float[] logits, int id) {
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit);
        }
        return logits[id] - Math.log(sum);
    }

    static double difference(float[] a, float[] b) {
        double worst = a.length == b.length ? 0 : Double.POSITIVE_INFINITY;
        for (int i = 0; i < Math.min(a.length, b.length); i++) {
            worst = Math.max(worst, Math.abs((double) a[i] - b[i]));
        }
        return worst;
    }

    private interface Eager {
        float[] after(int[] ids);
    }

    private static <T> T withEager(Path path, java.util.function.Function<Eager, T> work) {
        return withModel(
                path,
                (module, model) -> work.apply(ids ->
                        NativeMemory.of(module.eager_logits(model, list(ids))).toArray(ValueLayout.JAVA_FLOAT)));
    }

    private static List<Integer> list(int[] ids) {
        List<Integer> list = new ArrayList<>();
        Arrays.stream(ids).forEach(list::add);
        return list;
    }

    private static <T> T withModel(Path path, java.util.function.BiFunction<ExporterModule, Value, T> work) {
        return SharedHost.get().call(python -> {
            ExporterModule module = python.module(ExporterModule.NAME, ExporterModule.class);
            try (Checkpoint checkpoint = Checkpoint.open(path, Checkpoint.Access.COPY_ON_WRITE);
                    CheckpointTensors tensors = new CheckpointTensors(checkpoint)) {
                Value model = module.load_causal_lm(checkpoint.configJson(), tensors);
                return work.apply(module, model);
            }
        });
    }
}
