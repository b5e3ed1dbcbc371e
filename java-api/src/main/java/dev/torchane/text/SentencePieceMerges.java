package dev.torchane.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The merges of a SentencePiece BPE model, which stores scores instead: a token's score is the priority of every pair that
 * makes it.
 */
final class SentencePieceMerges {

    /** Two tokens that become one. */
    record Merge(String left, String right, double score) {}

    private SentencePieceMerges() {}

    /** All pairs of tokens that make a token, best score first; among equals the one with the lower ids first. */
    static List<Merge> of(List<String> tokens, List<Double> scores) {
        Map<String, Integer> ids = HashMap.newHashMap(tokens.size());
        for (int id = 0; id < tokens.size(); id++) {
            ids.put(tokens.get(id), id);
        }
        List<Merge> merges = new ArrayList<>();
        for (int id = 0; id < tokens.size(); id++) {
            String token = tokens.get(id);
            for (int cut = 1; cut < token.length(); cut++) {
                String left = token.substring(0, cut);
                String right = token.substring(cut);
                if (ids.containsKey(left) && ids.containsKey(right)) {
                    merges.add(new Merge(left, right, scores.get(id)));
                }
            }
        }
        merges.sort(Comparator.comparingDouble(Merge::score)
                .reversed()
                .thenComparing(merge -> ids.get(merge.left()))
                .thenComparing(merge -> ids.get(merge.right())));
        return merges;
    }
}
