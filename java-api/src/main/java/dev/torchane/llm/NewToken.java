package dev.torchane.llm;

import java.util.Optional;

/**
 * A token that a stream has just taken.
 *
 * @param id token
 * @param end set when the stream ends with this token: {@link FinishReason#STOP} for an end-of-sequence token, {@link
 *     FinishReason#LENGTH} at the limit
 * @param logprobs when they were asked for
 */
public record NewToken(int id, Optional<FinishReason> end, Optional<TokenLogprobs> logprobs) {

    /** Whether it is an end-of-sequence token, which is no part of the text. */
    public boolean isEndOfSequence() {
        return end.equals(Optional.of(FinishReason.STOP));
    }
}
