package dev.torchane;

import dev.torchane.build.ChunkLimits;

/**
 * How a model in chunks is built and loaded.
 *
 * @param model everything that a model in one piece has too
 * @param limits of each program; the fewest programs that keep them are built
 * @param residentBytes weights that may stay in memory while the model is open, in bytes as they are stored; 0 takes what the engine has
 *     room for
 */
public record ChunkedOptions(CausalLMOptions model, ChunkLimits limits, long residentBytes) {

    public ChunkedOptions {
        Arguments.given(model, "model");
        Arguments.given(limits, "limits");
        if (residentBytes < 0) {
            throw new IllegalArgumentException(
                    "residentBytes must be positive, or 0 for what there is room for, found " + residentBytes);
        }
    }

    /** {@link CausalLMOptions#defaults()}, programs of at most 2 GB and 30 layers, as much in memory as there is room for. */
    public static ChunkedOptions defaults() {
        return of(CausalLMOptions.defaults());
    }

    /** The default limits with these options. */
    public static ChunkedOptions of(CausalLMOptions model) {
        return new ChunkedOptions(model, ChunkLimits.defaults(), 0);
    }

    public ChunkedOptions withLimits(ChunkLimits other) {
        return new ChunkedOptions(model, other, residentBytes);
    }

    public ChunkedOptions withResidentBytes(long most) {
        return new ChunkedOptions(model, limits, most);
    }
}
