package dev.torchane;

import dev.torchane.llm.Sampling;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * How a generation runs.
 *
 * @param maxNewTokens limit on new tokens; 0 generates nothing
 * @param sampling how each token is chosen
 * @param raw whether a text prompt is completed as it stands, instead of being put into the model's chat template
 * @param onText receives the text as it grows, in whole characters; what it throws ends the generation and reaches the caller
 * @param onPrefill hears how many prompt tokens are done
 */
public record GenerateOptions(
        int maxNewTokens, Sampling sampling, boolean raw, Consumer<String> onText, IntConsumer onPrefill) {

    public GenerateOptions {
        Arguments.given(sampling, "sampling");
        Arguments.given(onText, "onText");
        Arguments.given(onPrefill, "onPrefill");
        if (maxNewTokens < 0) {
            throw new IllegalArgumentException("maxNewTokens must not be negative, found " + maxNewTokens);
        }
    }

    /** Greedy, up to 256 new tokens, through the chat template. */
    public static GenerateOptions defaults() {
        return new GenerateOptions(256, Sampling.greedy(), false, text -> {}, tokens -> {});
    }

    public GenerateOptions withMaxNewTokens(int limit) {
        return new GenerateOptions(limit, sampling, raw, onText, onPrefill);
    }

    public GenerateOptions withSampling(Sampling other) {
        return new GenerateOptions(maxNewTokens, other, raw, onText, onPrefill);
    }

    public GenerateOptions withRaw(boolean asItStands) {
        return new GenerateOptions(maxNewTokens, sampling, asItStands, onText, onPrefill);
    }

    public GenerateOptions withOnText(Consumer<String> listener) {
        return new GenerateOptions(maxNewTokens, sampling, raw, listener, onPrefill);
    }

    public GenerateOptions withOnPrefill(IntConsumer listener) {
        return new GenerateOptions(maxNewTokens, sampling, raw, onText, listener);
    }
}
