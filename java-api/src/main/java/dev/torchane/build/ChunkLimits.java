package dev.torchane.build;

import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one program of a model in chunks may have at most.
 *
 * @param bytes of weights as they are stored
 * @param layers of the model
 * @param operations of one function; constants count
 */
public record ChunkLimits(long bytes, int layers, int operations) {

    /** What Apple's compiler takes for the Neural Engine: some 2 GB and some 30 layers. */
    private static final ChunkLimits NEURAL_ENGINE = new ChunkLimits(2_000_000_000L, 30, Integer.MAX_VALUE);

    public ChunkLimits {
        if (bytes < 1 || layers < 1 || operations < 1) {
            throw new IllegalArgumentException("the limits of a chunk must be positive, found " + bytes + " bytes, "
                    + layers + " layers, " + operations + " operations");
        }
    }

    /** 2 GB, 30 layers, any number of operations. */
    public static ChunkLimits defaults() {
        return NEURAL_ENGINE;
    }

    public ChunkLimits withBytes(long most) {
        return new ChunkLimits(most, layers, operations);
    }

    public ChunkLimits withLayers(int most) {
        return new ChunkLimits(bytes, most, operations);
    }

    public ChunkLimits withOperations(int most) {
        return new ChunkLimits(bytes, layers, most);
    }

    /** Each limit as text, by name: for keys. */
    public SortedMap<String, String> asText() {
        SortedMap<String, String> text = new TreeMap<>();
        text.put("chunkBytes", Long.toString(bytes));
        text.put("chunkLayers", Integer.toString(layers));
        text.put("chunkOperations", Integer.toString(operations));
        return text;
    }
}
