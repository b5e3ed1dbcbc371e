package dev.torchane;

import dev.torchane.llm.Sampler;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * How a generation runs.
 *
 * @param maxNewTokens limit on new tokens; 0 generates nothing
 * @param sampler chooses each token
 * @param raw whether a text prompt is completed as it stands, instead of being put into the model's chat template
 * @param onText receives the text as it grows, in whole characters
 * @param onPrefill hears how many prompt tokens are done
 */
public record GenerateOptions(
        int maxNewTokens, Sampler sampler, boolean raw, Consumer<String> onText, IntConsumer onPrefill) {

    public GenerateOptions {
        if (maxNewTokens < 0) {
            throw new IllegalArgumentException("maxNewTokens must not be negative, found " + maxNewTokens);
        }
    }

    /** Greedy, up to 256 new tokens, through the chat template. */
    public static GenerateOptions defaults() {
        return new GenerateOptions(256, Sampler.greedy(), false, text -> {}, tokens -> {});
    }

    public GenerateOptions withMaxNewTokens(int limit) {
        return new GenerateOptions(limit, sampler, raw, onText, onPrefill);
    }

    public GenerateOptions withSampler(Sampler other) {
        return new GenerateOptions(maxNewTokens, other, raw, onText, onPrefill);
    }

    public GenerateOptions withRaw(boolean asItStands) {
        return new GenerateOptions(maxNewTokens, sampler, asItStands, onText, onPrefill);
    }

    public GenerateOptions withOnText(Consumer<String> listener) {
        return new GenerateOptions(maxNewTokens, sampler, raw, listener, onPrefill);
    }

    public GenerateOptions withOnPrefill(IntConsumer listener) {
        return new GenerateOptions(maxNewTokens, sampler, raw, onText, listener);
    }
}
