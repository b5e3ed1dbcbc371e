package dev.torchane.embedding;

import java.util.Arrays;

/**
 * Cuts ids that are too many, but keeps the special tokens at their end.
 *
 * @param most ids of a text, special tokens included
 */
public record TokenLimit(int most) {

    /**
     * @param empty ids of the empty text: what a tokenizer puts around each
     */
    public int[] cut(int[] ids, int[] empty) {
        if (ids.length <= most) {
            return ids;
        }
        int prefix = 0;
        while (prefix < empty.length && ids[prefix] == empty[prefix]) {
            prefix++;
        }
        int suffix = Math.min(empty.length - prefix, most);
        int[] kept = Arrays.copyOf(ids, most);
        System.arraycopy(ids, ids.length - suffix, kept, most - suffix, suffix);
        return kept;
    }
}
