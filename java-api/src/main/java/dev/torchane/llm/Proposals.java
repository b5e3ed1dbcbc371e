package dev.torchane.llm;

/** Says which tokens may come next. What it says changes how long a generation takes, and no token of it. */
public interface Proposals {

    /**
     * Ids that may come next, in their order.
     *
     * @param history the tokens so far
     * @param last the token behind them, which is not in the history yet
     * @param count how many ids are wanted; more are not looked at
     * @return fewer where there are no more, none where nothing is known
     */
    int[] propose(TokenHistory history, int last, int count);

    /** Whether asking takes no time to speak of, so that it may be asked for tokens that are not computed. */
    default boolean free() {
        return false;
    }
}
