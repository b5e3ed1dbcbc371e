package dev.torchane.llm;

import dev.torchane.program.Manifest;
import java.util.List;
import java.util.Optional;

/**
 * What the loop must know of a built model.
 *
 * @param vocab entries of the vocabulary
 * @param hidden width of an embedding
 * @param maxLen largest context in tokens; at most the last rung
 * @param prefillWindow rows of a prefill window
 * @param decodeWindow rows of a decode window
 * @param ladder context rungs, ascending
 * @param slidingWindow columns that a row of a sliding layer sees, itself included; 0 when no layer slides
 * @param rope position embedding of the full-attention layers
 * @param localRope position embedding of the sliding layers, where it differs
 * @param kv what a column of a state holds
 */
public record ModelShape(
        int vocab,
        int hidden,
        int maxLen,
        int prefillWindow,
        int decodeWindow,
        List<Integer> ladder,
        int slidingWindow,
        Rope rope,
        Optional<Rope> localRope,
        Kv kv) {

    /**
     * Keys, or values, of one token: {@code [layers, 1, heads, 1, headDim]}.
     *
     * @param layers decoder layers
     * @param heads key-value heads of a layer
     * @param headDim numbers in a head
     */
    public record Kv(int layers, int heads, int headDim) {}

    public ModelShape {
        ladder = List.copyOf(ladder);
        if (ladder.isEmpty() || maxLen < 1 || maxLen > ladder.getLast()) {
            throw new IllegalArgumentException("the ladder " + ladder + " does not reach maxLen " + maxLen);
        }
        for (int i = 1; i < ladder.size(); i++) {
            if (ladder.get(i) <= ladder.get(i - 1)) {
                throw new IllegalArgumentException("the ladder must ascend, found " + ladder);
            }
        }
        if (prefillWindow > ladder.getFirst() || decodeWindow > prefillWindow) {
            throw new IllegalArgumentException("windows of " + decodeWindow + " and " + prefillWindow
                    + " rows do not fit the first rung " + ladder.getFirst());
        }
    }

    /** What a bundle's manifest says. */
    public static ModelShape of(Manifest manifest) {
        Manifest.Model model = manifest.model();
        return new ModelShape(
                model.vocab(),
                model.hidden(),
                model.maxLen(),
                model.prefillWindow(),
                model.decodeWindow(),
                model.ladder(),
                model.slidingWindow(),
                Rope.of(manifest.rope()),
                manifest.localRope().map(Rope::of),
                new Kv(model.layers(), model.kvHeads(), model.headDim()));
    }

    /** The lowest rung that holds {@code tokens}, which must be at most {@link #maxLen()}. */
    int rungFor(int tokens) {
        for (int rung : ladder) {
            if (rung >= tokens) {
                return rung;
            }
        }
        throw new IllegalArgumentException(tokens + " tokens do not fit the ladder " + ladder);
    }
}
