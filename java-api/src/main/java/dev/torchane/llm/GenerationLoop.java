package dev.torchane.llm;

import java.util.Arrays;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** The loop: feed the prompt, then sample and feed one token at a time. */
public final class GenerationLoop {

    /**
     * What a generation produced.
     *
     * @param ids new tokens; the end-of-sequence token is the last of them where it ended the generation
     * @param reason why it ended
     * @param stats figures
     */
    public record Result(int[] ids, FinishReason reason, GenerationStats stats) {}

    private final LanguageModel model;
    private final Set<Integer> eos;

    /**
     * @param eos ids that end a generation
     */
    public GenerationLoop(LanguageModel model, Set<Integer> eos) {
        this.model = model;
        this.eos = Set.copyOf(eos);
    }

    /**
     * Generates behind what the state already holds.
     *
     * @param prompt ids to append first, at least one
     * @param maxNewTokens 0 generates nothing; a full context ends the generation earlier
     * @param prefillProgress hears how many prompt tokens are done
     * @param onToken receives each new token; false ends the generation
     * @throws IllegalArgumentException when the prompt is empty, or has an id outside the vocabulary
     * @throws ContextOverflowException when the prompt alone does not fit
     */
    public Result generate(
            KvState state,
            int[] prompt,
            int maxNewTokens,
            Sampler sampler,
            IntConsumer prefillProgress,
            IntPredicate onToken) {
        if (maxNewTokens < 0) {
            throw new IllegalArgumentException("maxNewTokens must not be negative, found " + maxNewTokens);
        }
        long started = System.nanoTime();
        float[] logits = model.feed(state, prompt, prefillProgress);
        long prefilled = System.nanoTime();
        int[] ids = new int[Math.min(maxNewTokens, model.shape().maxLen() - state.position() + 1)];
        TokenHistory history = state.history(state.position());
        int count = 0;
        FinishReason reason = FinishReason.LENGTH;
        while (count < ids.length) {
            int id = sampler.sample(logits, history);
            ids[count++] = id;
            if (eos.contains(id)) {
                reason = FinishReason.STOP;
                break;
            }
            if (!onToken.test(id)) {
                reason = FinishReason.CANCELLED;
                break;
            }
            if (count < ids.length) {
                logits = model.feed(state, new int[] {id}, done -> {});
            }
        }
        long ended = System.nanoTime();
        GenerationStats stats = new GenerationStats(prompt.length, count, prefilled - started, ended - prefilled);
        return new Result(Arrays.copyOf(ids, count), reason, stats);
    }
}
