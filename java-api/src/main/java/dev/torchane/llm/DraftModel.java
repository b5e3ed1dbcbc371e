package dev.torchane.llm;

import java.util.Arrays;
import java.util.Optional;

/** A smaller model that says what it would say, greedily. Its state follows the tokens so far: what is common is not computed again. */
public final class DraftModel implements Proposals {

    private final LanguageModel model;
    private final KvState state;

    /**
     * @param state of the model; whatever it holds is kept as far as it is wanted
     */
    public DraftModel(LanguageModel model, KvState state) {
        this.model = model;
        this.state = state;
    }

    @Override
    public int[] propose(TokenHistory history, int last, int count) {
        int[] context = context(history, last);
        int fitting = Math.min(count, model.shape().maxLen() - context.length);
        if (fitting < 1 || !known(context)) {
            return new int[0];
        }
        int kept = state.keepCommonPrefix(context);
        int[] pending = Arrays.copyOfRange(context, kept, context.length);
        int[] ids = new int[fitting];
        for (int i = 0; i < fitting; i++) {
            Optional<float[]> logits = model.feedWhile(state, pending, _ -> true);
            ids[i] = Sampler.argmax(logits.orElseThrow());
            pending = new int[] {ids[i]};
        }
        return ids;
    }

    private static int[] context(TokenHistory history, int last) {
        int[] context = new int[history.size() + 1];
        for (int i = 0; i < history.size(); i++) {
            context[i] = history.at(i);
        }
        context[history.size()] = last;
        return context;
    }

    /** A model with more tokens than this one may have said some that are unknown here. */
    private boolean known(int[] context) {
        return Arrays.stream(context).allMatch(id -> id < model.shape().vocab());
    }
}
