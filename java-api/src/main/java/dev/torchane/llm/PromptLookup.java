package dev.torchane.llm;

/** Proposes what followed the last tokens when they stood together before: texts that are edited, quoted or continued repeat themselves. */
final class PromptLookup {

    private PromptLookup() {}

    /**
     * Ids that may come next; none when the last tokens are new. A text that ends before there are enough goes on with what was
     * proposed: one that repeats itself is proposed to repeat itself.
     *
     * @param history the tokens so far
     * @param last the token behind them, which is not in the history yet
     * @param match tokens that must have stood together, {@code last} included
     * @param count how many ids
     */
    static int[] propose(TokenHistory history, int last, int match, int count) {
        int size = history.size();
        for (int end = size - 1; end >= match - 1; end--) {
            if (history.at(end) == last && matches(history, end, match)) {
                return following(history, last, end, count);
            }
        }
        return new int[0];
    }

    private static boolean matches(TokenHistory history, int end, int match) {
        for (int back = 1; back < match; back++) {
            if (history.at(end - back) != history.at(history.size() - back)) {
                return false;
            }
        }
        return true;
    }

    private static int[] following(TokenHistory history, int last, int end, int count) {
        int size = history.size();
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            int at = end + 1 + i;
            ids[i] = at < size ? history.at(at) : at == size ? last : ids[at - size - 1];
        }
        return ids;
    }
}
