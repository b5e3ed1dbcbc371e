package dev.torchane.testing;

import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Literal;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A bundle with a random two-layer language model over {@link TinyTokenizer}, made without Python: small contexts, so that
 * ladders are climbed and states fill within a few tokens.
 *
 * @param ladder rungs; the last one is maxLen rounded up
 * @param prefillWindow rows of a prefill window
 * @param stateType type of keys and values
 * @param batch whether the program has {@code batch_M}
 * @param seed of the weights
 */
public record TinyTransformer(
        int maxLen, List<Integer> ladder, int prefillWindow, DType stateType, boolean batch, long seed) {

    private static final int LAYERS = 2;
    private static final int HIDDEN = 32;
    private static final int HEADS = 4;
    private static final int KV = 2;
    private static final int DIM = 8;
    private static final int MLP = 48;
    private static final int VOCAB = TinyTokenizer.SIZE;

    /** A context of 128 in three rungs, prefill windows of 16, fp32 states, batch functions. */
    public static TinyTransformer standard() {
        return new TinyTransformer(128, List.of(32, 64, 128), 16, DType.FP32, true, 5);
    }

    public TinyTransformer withLadder(int newMaxLen, Integer... rungs) {
        return new TinyTransformer(newMaxLen, List.of(rungs), prefillWindow, stateType, batch, seed);
    }

    public TinyTransformer withStates(DType type) {
        return new TinyTransformer(maxLen, ladder, prefillWindow, type, batch, seed);
    }

    public TinyTransformer withBatch(boolean functions) {
        return new TinyTransformer(maxLen, ladder, prefillWindow, stateType, functions, seed);
    }

    public TinyTransformer withSeed(long other) {
        return new TinyTransformer(maxLen, ladder, prefillWindow, stateType, batch, other);
    }

    /** Writes the bundle and answers its directory. */
    public Path write(Path directory) {
        SplittableRandom random = new SplittableRandom(seed);
        try (BundleWriter writer = BundleWriter.create(directory)) {
            Map<String, Literal.Blob> blobs = new HashMap<>();
            float[] table = gaussians(random, VOCAB * HIDDEN, 0, 1);
            long embedding =
                    writer.weights().append(TensorType.of(DType.FP32, VOCAB, HIDDEN), MemorySegment.ofArray(table));
            LlamaFunctions functions = new LlamaFunctions(
                    LAYERS, HIDDEN, HEADS, KV, DIM, MLP, VOCAB, 1e-5, stateType, (f, name, shape) -> {
                        Literal.Blob blob = blobs.computeIfAbsent(name, _ -> weight(writer, random, name, shape));
                        return constant(f, name, blob);
                    });
            ProgramBuilder program = ProgramBuilder.create();
            for (int rung : ladder) {
                functions.window(program, "prefill_" + rung, prefillWindow, rung);
                functions.window(program, "decode_" + rung, 8, rung);
                if (batch) {
                    functions.batch(program, "batch_" + rung, 8, rung);
                }
            }
            writer.program(program.build());
            TinyTokenizer.write(directory);
            writer.manifest(manifest(embedding));
            writer.finish();
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Value constant(FunctionBuilder f, String name, Literal.Blob blob) {
        return f.constant("w" + name, blob);
    }

    private static Literal.Blob weight(BundleWriter writer, SplittableRandom random, String name, int... shape) {
        TensorType type = TensorType.of(DType.FP32, shape);
        boolean norm = name.contains("n");
        double spread = shape.length == 1 ? 0.2 : 1.5 / Math.sqrt(shape[1]);
        float[] values = gaussians(random, (int) type.elements(), norm && shape.length == 1 ? 1 : 0, spread);
        return BundleWriter.blob(type, writer.weights().append(type, MemorySegment.ofArray(values)));
    }

    private static float[] gaussians(SplittableRandom random, int count, double mean, double spread) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (mean + spread * random.nextGaussian());
        }
        return values;
    }

    private String manifest(long table) {
        return """
                {
                  "format": 1, "kind": "causal-lm", "target": "cpu", "options": {"weights": "fp32"},
                  "source": {"name": "tiny", "digest": "sha256:%d"}, "versions": {},
                  "model": {
                    "architecture": "Tiny", "vocab": %d, "hidden": %d, "layers": %d, "heads": %d, "kvHeads": %d, "headDim": %d,
                    "maxPosition": 4096, "maxLen": %d, "prefillWindow": %d, "decodeWindow": 8, "ladder": %s,
                    "slidingWindow": 0, "eos": [2], "bos": 1
                  },
                  "rope": {"global": {"dim": 8, "inverseFrequencies": [1.0, 0.1, 0.01, 0.001], "attentionScaling": 1}, "local": null},
                  "embedding": {"rows": %d, "columns": %d, "encoding": "fp32", "data": %d, "scale": null, "multiplier": 1.0},
                  "rowAxes": {"emb": 1, "cos": 1, "sin": 1, "mask": 2, "pick": 1},
                  "weights": [], "build": {"seconds": {}}
                }
                """.formatted(
                seed, VOCAB, HIDDEN, LAYERS, HEADS, KV, DIM, maxLen, prefillWindow, ladder, VOCAB, HIDDEN, table);
    }
}
