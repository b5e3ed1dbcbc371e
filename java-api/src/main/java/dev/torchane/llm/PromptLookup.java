package dev.torchane.llm;

/** Proposes what followed the last tokens when they stood together before: texts that are edited, quoted or continued repeat themselves. */
final class PromptLookup {

    private PromptLookup() {}

    /**
     * Ids that may come next; none when the last tokens are new.
     *
     * @param history the tokens so far
     * @param last the token behind them, which is not in the history yet
     * @param match tokens that must have stood together, {@code last} included
     * @param most ids at most
     */
    static int[] propose(TokenHistory history, int last, int match, int most) {
        int size = history.size();
        for (int end = size - 1; end >= match - 1; end--) {
            if (history.at(end) == last && matches(history, end, match)) {
                int[] ids = new int[Math.min(most, size - 1 - end)];
                for (int i = 0; i < ids.length; i++) {
                    ids[i] = history.at(end + 1 + i);
                }
                return ids;
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
}
