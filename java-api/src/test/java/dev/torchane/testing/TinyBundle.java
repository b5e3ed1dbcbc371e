package dev.torchane.testing;

import dev.torchane.program.BundleWriter;
import dev.torchane.program.DType;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * A bundle in the form of docs/architecture.md, made without Python: a model that says one token of {@link TinyTokenizer}
 * for ever, or one whose next token depends on the last one alone.
 */
public final class TinyBundle {

    /** The text of the token. */
    public static final String TOKEN = " world";

    /** Rungs of the ladder; the last is the context. */
    public static final List<Integer> LADDER = List.of(64, 2048);

    private static final int DIM = 4;
    private static final int VOCAB = TinyTokenizer.SIZE;

    private TinyBundle() {}

    /** Writes the bundle of the model that says {@link #TOKEN} for ever, and answers its directory. */
    public static Path write(Path directory) {
        float[] embedding = new float[VOCAB * 2];
        float[] head = new float[VOCAB * 2];
        for (int id = 0; id < VOCAB; id++) {
            embedding[id * 2] = 1;
        }
        head[TinyTokenizer.tokens().indexOf("Ġworld") * 2] = 1;
        return write(directory, 2, embedding, head);
    }

    /**
     * Writes the bundle of a model that finds {@code next} of the last token a little likelier (its logit is 1, the others' 0), and
     * answers its directory. Behind a token whose next one is negative no logit is a number.
     */
    public static Path write(Path directory, IntUnaryOperator next) {
        float[] embedding = new float[VOCAB * VOCAB];
        float[] head = new float[VOCAB * VOCAB];
        for (int id = 0; id < VOCAB; id++) {
            int follower = next.applyAsInt(id);
            embedding[id * VOCAB + id] = follower < 0 ? Float.NaN : 1;
            if (follower >= 0) {
                head[follower * VOCAB + id] = 1;
            }
        }
        return write(directory, VOCAB, embedding, head);
    }

    private static Path write(Path directory, int hidden, float[] embedding, float[] head) {
        TensorType matrix = TensorType.of(DType.FP32, VOCAB, hidden);
        try (BundleWriter writer = BundleWriter.create(directory)) {
            long table = writer.weights().append(matrix, MemorySegment.ofArray(embedding));
            long weight = writer.weights().append(matrix, MemorySegment.ofArray(head));
            ProgramBuilder program = ProgramBuilder.create();
            for (int rung : LADDER) {
                function(program.function("prefill_" + rung), 16, rung, matrix, weight, true);
                function(program.function("decode_" + rung), 8, rung, matrix, weight, true);
                function(program.function("batch_" + rung), 8, rung, matrix, weight, false);
            }
            writer.program(program.build());
            TinyTokenizer.write(directory);
            writer.manifest(manifest(table, hidden));
            writer.finish();
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void function(FunctionBuilder f, int rows, int rung, TensorType matrix, long weight, boolean picks) {
        Value embedded = f.input("emb", TensorType.of(DType.FP32, 1, rows, matrix.axis(1)));
        f.input("cos", TensorType.of(DType.FP32, 1, rows, DIM));
        f.input("sin", TensorType.of(DType.FP32, 1, rows, DIM));
        f.input("mask", TensorType.of(DType.FP32, 1, 1, rows, rung));
        f.input("step", TensorType.of(DType.INT32, 1));
        Value pick = picks ? f.input("pick", TensorType.of(DType.FP32, 1, rows)) : null;
        f.state("key_cache", TensorType.of(DType.FP32, 1, 1, 1, rung, DIM));
        f.state("value_cache", TensorType.of(DType.FP32, 1, 1, 1, rung, DIM));
        Value wanted = embedded;
        if (picks) {
            Value rowsOfPick = f.mul("rows", embedded, f.expandDims("pick_rows", pick, -1));
            wanted = f.reduce("reduce_sum", "picked", rowsOfPick, List.of(1), true);
        }
        Value logits = f.linear("head", wanted, f.constant("head_weight", BundleWriter.blob(matrix, weight)));
        f.done(Map.of("logits", f.reshape("logits_row", logits, picks ? 1 : rows, VOCAB)));
    }

    private static String manifest(long table, int hidden) {
        return """
                {
                  "format": 1, "kind": "causal-lm", "target": "cpu", "options": {},
                  "source": {"name": "tiny", "digest": "sha256:00"}, "versions": {},
                  "model": {
                    "architecture": "Tiny", "vocab": %d, "hidden": %d, "layers": 1, "heads": 1, "kvHeads": 1, "headDim": %d,
                    "maxPosition": 2048, "maxLen": 2048, "prefillWindow": 16, "decodeWindow": 8, "ladder": %s,
                    "slidingWindow": 0, "eos": [2], "bos": 1
                  },
                  "rope": {"global": {"dim": 4, "inverseFrequencies": [1.0, 0.01], "attentionScaling": 1}, "local": null},
                  "embedding": {"rows": %d, "columns": %d, "encoding": "fp32", "data": %d, "scale": null, "multiplier": 1.0},
                  "rowAxes": {"emb": 1, "cos": 1, "sin": 1, "mask": 2, "pick": 1},
                  "weights": [], "build": {"seconds": {}}
                }
                """.formatted(VOCAB, hidden, DIM, LADDER, VOCAB, hidden, table);
    }
}
