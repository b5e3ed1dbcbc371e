package dev.torchane.grammar;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * The bytes of every token, as a trie that many grammars share. Nodes are numbered in preorder, so a walk that gives up on a
 * prefix goes on at the node after its subtree.
 */
public final class Vocabulary {

    private final byte[][] tokens;
    private final Set<Integer> special;
    private final Set<Integer> eos;

    /** Token ids in the order of their bytes; those of node n begin at firstToken[n] and end where those of node n + 1 begin. */
    private final int[] sorted;

    private final int[] firstToken;
    private final byte[] labels;
    private final int[] depths;
    private final int[] nodeAfterSubtree;
    private final int maxDepth;

    private Vocabulary(byte[][] tokens, Set<Integer> special, Set<Integer> eos) {
        this.tokens = tokens;
        this.special = special;
        this.eos = eos;
        this.sorted = IntStream.range(0, tokens.length)
                .filter(id -> tokens[id].length > 0 && !special.contains(id) && !eos.contains(id))
                .boxed()
                .sorted((a, b) -> Arrays.compareUnsigned(tokens[a], tokens[b]))
                .mapToInt(Integer::intValue)
                .toArray();
        int count = 0;
        byte[] previous = {};
        for (int id : sorted) {
            count += tokens[id].length - common(previous, tokens[id]);
            previous = tokens[id];
        }
        labels = new byte[count];
        depths = new int[count];
        nodeAfterSubtree = new int[count];
        firstToken = new int[count + 1];
        maxDepth = Arrays.stream(sorted).map(id -> tokens[id].length).max().orElse(0);
        fill();
    }

    /**
     * @param tokenBytes what each id contributes to the output, {@code [vocab][bytes]}; parts of characters are fine
     * @param special ids that contribute no text and that no grammar allows
     * @param eos ids that end the output; allowed where the grammar is complete. They count as special
     * @throws IllegalArgumentException if an id lies outside the vocabulary, or there is no EOS
     */
    public static Vocabulary of(byte[][] tokenBytes, Set<Integer> special, Set<Integer> eos) {
        if (eos.isEmpty()) {
            throw new IllegalArgumentException("a grammar needs at least one EOS id, or no output could ever end");
        }
        for (Set<Integer> ids : List.of(special, eos)) {
            for (int id : ids) {
                if (id < 0 || id >= tokenBytes.length) {
                    throw new IllegalArgumentException(
                            "special token " + id + " lies outside the vocabulary of " + tokenBytes.length + " tokens");
                }
            }
        }
        byte[][] copy = new byte[tokenBytes.length][];
        Arrays.setAll(copy, id -> tokenBytes[id].clone());
        return new Vocabulary(copy, Set.copyOf(special), new TreeSet<>(eos));
    }

    private static int common(byte[] a, byte[] b) {
        int mismatch = Arrays.mismatch(a, b);
        return mismatch < 0 ? a.length : mismatch;
    }

    private void fill() {
        int[] path = new int[maxDepth];
        int pathLength = 0;
        int node = 0;
        byte[] previous = {};
        for (int i = 0; i < sorted.length; i++) {
            byte[] bytes = tokens[sorted[i]];
            int shared = common(previous, bytes);
            while (pathLength > shared) {
                nodeAfterSubtree[path[--pathLength]] = node;
            }
            for (int depth = shared; depth < bytes.length; depth++) {
                labels[node] = bytes[depth];
                depths[node] = depth;
                firstToken[node] = i;
                path[pathLength++] = node++;
            }
            previous = bytes;
        }
        while (pathLength > 0) {
            nodeAfterSubtree[path[--pathLength]] = node;
        }
        firstToken[node] = sorted.length;
    }

    /** Ids in all, special ones included. */
    public int size() {
        return tokens.length;
    }

    /** Whether a token ends the output. */
    public boolean isEos(int id) {
        return eos.contains(id);
    }

    /** Bytes of the longest token that is not special. */
    int longest() {
        return maxDepth;
    }

    Set<Integer> eos() {
        return eos;
    }

    /** What a token contributes to the output; nothing if it is special. Not to be changed. */
    byte[] bytes(int id) {
        return special.contains(id) || eos.contains(id) ? new byte[0] : tokens[id];
    }

    /** Sets the bits of all tokens that lead from a state to one that is not dead. */
    void markAllowed(GrammarState start, long[] mask) {
        GrammarState[] path = new GrammarState[maxDepth + 1];
        path[0] = start;
        int node = 0;
        while (node < labels.length) {
            int depth = depths[node];
            GrammarState state = path[depth].step(labels[node] & 0xFF);
            if (state.isDead()) {
                node = nodeAfterSubtree[node];
                continue;
            }
            path[depth + 1] = state;
            for (int i = firstToken[node]; i < firstToken[node + 1]; i++) {
                mask[sorted[i] >> 6] |= 1L << sorted[i];
            }
            node++;
        }
    }
}
