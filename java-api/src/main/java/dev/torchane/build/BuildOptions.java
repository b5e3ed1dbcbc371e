package dev.torchane.build;

import dev.torchane.program.DType;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Everything that decides what a build of a language model contains; all of it is part of the cache key.
 *
 * @param target hardware the program is shaped for
 * @param precision type of activations in the program: fp32 or fp16
 * @param weights storage of linear weights
 * @param maxLen largest context in tokens; 0 takes the smaller of 2048 and the model's own limit
 * @param prefillWindow tokens in a prefill window
 * @param ladder context rungs below maxLen; each has its own functions
 * @param batch whether there are functions in which eight streams take a token at once; without them a batch runs one stream
 *     after another
 */
public record BuildOptions(
        Target target,
        DType precision,
        WeightEncoding weights,
        int maxLen,
        int prefillWindow,
        List<Integer> ladder,
        boolean batch) {

    /** Tokens in a decode window. */
    public static final int DECODE_WINDOW = 8;

    public BuildOptions {
        if (target == null || precision == null || weights == null || ladder == null) {
            throw new IllegalArgumentException("target, precision, weights and ladder must not be null, found " + target
                    + ", " + precision + ", " + weights + ", " + ladder);
        }
        for (Integer rung : ladder) {
            if (rung == null || rung < 1) {
                throw new IllegalArgumentException("each rung of the ladder must be positive, found " + ladder);
            }
        }
        ladder = List.copyOf(ladder);
        if (precision != DType.FP32 && precision != DType.FP16) {
            throw new IllegalArgumentException("precision must be fp32 or fp16, found " + precision.mil());
        }
        if (maxLen < 0) {
            throw new IllegalArgumentException("maxLen must be positive, or 0 for the default, found " + maxLen);
        }
        if (prefillWindow < DECODE_WINDOW || prefillWindow % DECODE_WINDOW != 0) {
            throw new IllegalArgumentException(
                    "prefillWindow must be a positive multiple of " + DECODE_WINDOW + ", found " + prefillWindow);
        }
    }

    /** Target cpu, fp32 activations, stored weights, the ladder 512 to 8192, prefill windows of 256, batch functions. */
    public static BuildOptions defaults() {
        return new BuildOptions(
                Target.CPU, DType.FP32, WeightEncoding.STORED, 0, 256, List.of(512, 1024, 2048, 4096, 8192), true);
    }

    public BuildOptions withTarget(Target other) {
        return new BuildOptions(other, precision, weights, maxLen, prefillWindow, ladder, batch);
    }

    public BuildOptions withPrecision(DType other) {
        return new BuildOptions(target, other, weights, maxLen, prefillWindow, ladder, batch);
    }

    public BuildOptions withWeights(WeightEncoding other) {
        return new BuildOptions(target, precision, other, maxLen, prefillWindow, ladder, batch);
    }

    public BuildOptions withMaxLen(int tokens) {
        return new BuildOptions(target, precision, weights, tokens, prefillWindow, ladder, batch);
    }

    public BuildOptions withPrefillWindow(int tokens) {
        return new BuildOptions(target, precision, weights, maxLen, tokens, ladder, batch);
    }

    public BuildOptions withLadder(List<Integer> rungs) {
        return new BuildOptions(target, precision, weights, maxLen, prefillWindow, rungs, batch);
    }

    public BuildOptions withBatch(boolean functions) {
        return new BuildOptions(target, precision, weights, maxLen, prefillWindow, ladder, functions);
    }

    /** Each option as text, sorted by name: for keys and manifests. */
    public SortedMap<String, String> asText() {
        SortedMap<String, String> text = new TreeMap<>();
        text.put("target", target.id());
        text.put("precision", precision.mil());
        text.put("weights", weights.id());
        text.put("maxLen", Integer.toString(maxLen));
        text.put("prefillWindow", Integer.toString(prefillWindow));
        text.put("ladder", ladder.toString());
        text.put("batch", Boolean.toString(batch));
        return text;
    }
}
