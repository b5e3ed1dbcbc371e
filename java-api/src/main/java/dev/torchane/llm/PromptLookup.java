package dev.torchane.llm;

/** Proposes what followed the last tokens when they stood together before: texts that are edited, quoted or continued repeat themselves. */
final class PromptLookup implements Proposals {

    /** Tokens that must have stood together before. */
    private static final int MATCH = 3;

    @Override
    public boolean free() {
        return true;
    }

    /**
     * {@inheritDoc}
     *
     * <p>None when the last {@link #MATCH} tokens never stood together. A text that ends before there are enough goes on with what was
     * proposed: one that repeats itself is proposed to repeat itself.
     */
    @Override
    public int[] propose(TokenHistory history, int last, int count) {
        int size = history.size();
        for (int end = size - 1; end >= MATCH - 1; end--) {
            if (history.at(end) == last && matches(history, end)) {
                return following(history, last, end, count);
            }
        }
        return new int[0];
    }

    private static boolean matches(TokenHistory history, int end) {
        for (int back = 1; back < MATCH; back++) {
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
