package dev.torchane.llm;

import java.util.ArrayList;
import java.util.List;

/**
 * How likely the model held a token and its rivals, before anything of {@link Sampling}: no grammar, bias, penalty or temperature has
 * changed these figures.
 *
 * @param chosen the token that was taken
 * @param top the most likely tokens, the likeliest first; the smaller id first among equals
 */
public record TokenLogprobs(Logprob chosen, List<Logprob> top) {

    public TokenLogprobs {
        top = List.copyOf(top);
    }

    /**
     * @param logits {@code [vocab]}, finite
     * @param count how many of the most likely tokens are wanted
     */
    static TokenLogprobs of(float[] logits, int chosen, int count) {
        double normalizer = logSumExp(logits);
        List<Logprob> top = new ArrayList<>();
        for (int id : largest(logits, Math.min(count, logits.length))) {
            top.add(new Logprob(id, logits[id] - normalizer));
        }
        return new TokenLogprobs(new Logprob(chosen, logits[chosen] - normalizer), top);
    }

    private static double logSumExp(float[] logits) {
        float max = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            max = Math.max(max, logit);
        }
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp((double) logit - max);
        }
        return max + Math.log(sum);
    }

    private static int[] largest(float[] logits, int count) {
        int[] ids = new int[count];
        int found = 0;
        for (int id = 0; id < logits.length && count > 0; id++) {
            if (found == count && logits[id] <= logits[ids[count - 1]]) {
                continue;
            }
            int at = found < count ? found++ : count - 1;
            while (at > 0 && logits[ids[at - 1]] < logits[id]) {
                ids[at] = ids[at - 1];
                at--;
            }
            ids[at] = id;
        }
        return ids;
    }
}
