package dev.torchane.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.build.BuildOptions;
import dev.torchane.build.Target;
import dev.torchane.build.WeightEncoding;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Numerics;
import dev.torchane.llm.ModelShape;
import dev.torchane.llm.TextScore;
import dev.torchane.program.Bundle;
import dev.torchane.program.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compressed bundles of tiny checkpoints, run on the jvm engine. */
class CompressionTest {

    private static final int[] PROMPT = TinyModel.prompt();

    private static final Map<WeightEncoding, Path> EXPORTED = new EnumMap<>(WeightEncoding.class);

    @TempDir
    static Path shared;

    @TempDir
    Path folder;

    /**
     * Each rounded matrix adds noise of its own to the logits, in proportion to what the manifest says of it. A misread index or
     * scale would be another matrix altogether, and its noise as large as the logits: a hundred times this and more. (Four to six are
     * seen; ten with int8, where the embedding's and the head's noise, which are not counted, are as large as the rest.)
     */
    @ParameterizedTest
    @EnumSource(names = {"INT8", "LUT6", "INT4", "LUT4", "LUT4G32"})
    void logitsErrInProportionToTheWeights(WeightEncoding encoding) {
        Path checkpoint = checkpoint();
        Path bundle = exported(encoding);

        double cosine = cosine(
                TinyBundles.eager(checkpoint, List.of(PROMPT)).getFirst(),
                TinyBundles.run(bundle, Numerics.FP32, List.of(PROMPT)).getFirst());
        double noise = weights(bundle).values().stream()
                .filter(weight -> weight.name().endsWith("_proj.weight"))
                .mapToDouble(weight -> Math.pow(weight.rmsError() / 0.25, 2)) // 0.25: the spread of the weights
                .average()
                .orElseThrow();
        double ratio = (1 - cosine) / noise;
        assertTrue(noise > 0 && noise < 0.015, encoding + " errs by " + noise + " of the weights' variance");
        assertTrue(ratio < 12, encoding + " has a cosine of " + cosine + ", " + ratio + " times the weights' noise");
    }

    @Test
    void palettesServeConvolutionsOnFp16HardwareToo() {
        Path checkpoint = checkpoint();
        BuildOptions options = TinyBundles.FP16.withTarget(Target.ANE).withWeights(WeightEncoding.LUT6);
        Path directory = TinyBundles.export(checkpoint, options, folder);

        double cosine = cosine(
                TinyBundles.eager(checkpoint, List.of(PROMPT)).getFirst(),
                TinyBundles.run(directory, Numerics.DECLARED, List.of(PROMPT)).getFirst());
        assertTrue(cosine > 0.998, "cosine " + cosine);
        Manifest.Weight query = weights(directory).get("model.layers.0.self_attn.q_proj.weight");
        assertEquals(List.of(32, 32, 1, 1), query.shape());
        assertEquals("lut6", query.encoding());
        assertEquals(32 * 32 * 6 / 8 + 4 * 64 * 2, query.bytes());
    }

    @Test
    void whatEachTensorBecameIsInTheManifest() {
        Map<String, Manifest.Weight> weights = weights(exported(WeightEncoding.LUT4G32));

        Manifest.Weight query = weights.get("model.layers.0.self_attn.q_proj.weight");
        assertEquals("lut4g32", query.encoding());
        assertEquals(32, query.group());
        assertEquals("", query.note());
        assertTrue(query.rmsError() > 0 && query.rmsError() < query.maxError());
        Manifest.Weight gate = weights.get("model.layers.0.mlp.gate_proj.weight");
        assertEquals(24, gate.group());
        assertEquals("groups of 24: 32 does not divide 48 rows", gate.note());
        Manifest.Weight head = weights.get("lm_head.weight");
        assertEquals("int8", head.encoding());
        assertEquals("heads are not stored in 4 bits", head.note());
        assertEquals(
                "embeddings are not stored in 4 bits",
                weights.get("model.embed_tokens.weight").note());
        assertEquals("fp32", weights.get("model.norm.weight").encoding());
    }

    @Test
    void blocksThatDoNotDivideTheInputsAreReported() {
        Map<String, Manifest.Weight> weights = weights(exported(WeightEncoding.INT4));

        Manifest.Weight down = weights.get("model.layers.1.mlp.down_proj.weight");
        assertEquals("int4", down.encoding());
        assertEquals("blocks of 24: 32 does not divide 48 inputs", down.note());
    }

    @Test
    void compressingTwiceGivesTheSameBytes() throws IOException {
        Path first = exported(WeightEncoding.LUT4);
        Path second = TinyBundles.export(checkpoint(), TinyBundles.FP32.withWeights(WeightEncoding.LUT4), folder);

        assertArrayEquals(
                Files.readAllBytes(first.resolve(Bundle.WEIGHTS)), Files.readAllBytes(second.resolve(Bundle.WEIGHTS)));
    }

    /** What {@code torch-ane quality} measures is what a build gives. */
    @ParameterizedTest
    @EnumSource(names = {"FP32", "LUT4"})
    void scoresAreTheLogprobsOfABuildWithTheSameWeights(WeightEncoding encoding) throws IOException {
        Path scored = Files.createDirectory(folder.resolve("scored"));
        try (Bundle source = Bundle.open(exported(WeightEncoding.FP32))) {
            ScoreBundle.write(source, encoding, scored);
        }
        Path built = exported(encoding);
        List<int[]> tokens =
                Arrays.stream(PROMPT).mapToObj(id -> new int[] {id}).toList();
        List<float[]> logits = TinyBundles.run(built, Numerics.FP32, tokens);

        try (Bundle bundle = Bundle.open(scored);
                LoadedProgram program = Engine.named("jvm").load(bundle, EngineOptions.defaults())) {
            double[] found = new TextScore(
                            program.function(ScoreBundle.FUNCTION),
                            ModelShape.of(bundle.manifest()),
                            bundle.embedding()::lookup)
                    .logprobs(PROMPT);
            assertEquals(PROMPT.length - 1, found.length);
            for (int i = 0; i < found.length; i++) {
                assertEquals(TinyBundles.logprob(logits.get(i), PROMPT[i + 1]), found[i], 1e-4, "token " + (i + 1));
            }
        }
    }

    @Test
    void int4IsRefusedForTheNeuralEngineBeforePythonStarts() {
        BuildOptions options = TinyBundles.FP16.withTarget(Target.ANE).withWeights(WeightEncoding.INT4);

        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class, () -> TinyBundles.export(folder.resolve("absent"), options, folder));
        assertTrue(e.getMessage().contains("choose weights lut4"), e.getMessage());
    }

    private static Path checkpoint() {
        Path directory = shared.resolve("checkpoint");
        return Files.exists(directory) ? directory : TinyModel.LLAMA.write(directory, 21);
    }

    /** The checkpoint with weights of an encoding; exported once, since an export takes longer than all that is done with it. */
    private static Path exported(WeightEncoding encoding) {
        return EXPORTED.computeIfAbsent(
                encoding, each -> TinyBundles.export(checkpoint(), TinyBundles.FP32.withWeights(each), shared));
    }

    private static Map<String, Manifest.Weight> weights(Path directory) {
        try (Bundle bundle = Bundle.open(directory)) {
            return bundle.manifest().weights().stream()
                    .collect(Collectors.toMap(Manifest.Weight::name, Function.identity()));
        }
    }

    private static double cosine(float[] a, float[] b) {
        assertEquals(a.length, b.length, Arrays.toString(b));
        double ab = 0;
        double aa = 0;
        double bb = 0;
        for (int i = 0; i < a.length; i++) {
            ab += (double) a[i] * b[i];
            aa += (double) a[i] * a[i];
            bb += (double) b[i] * b[i];
        }
        return ab / Math.sqrt(aa * bb);
    }
}
