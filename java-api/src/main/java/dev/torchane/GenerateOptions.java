package dev.torchane;

import dev.torchane.grammar.Grammar;
import dev.torchane.llm.Sampling;
import dev.torchane.text.OutputFormat;
import dev.torchane.text.Tool;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * How a generation runs: the same whether it is awaited, streamed, published, in the background or one of a batch. Begin with {@link
 * #defaults()}.
 *
 * @param maxNewTokens limit on new tokens; 0 generates nothing
 * @param sampling how each token is chosen
 * @param grammar what the output is held to; the generation ends when the output is whole and cannot go on
 * @param logprobs how many of the likeliest tokens to report with each token; 0 reports the chosen one alone
 * @param raw whether a text prompt is completed as it stands, instead of being put into the model's chat template
 * @param stops strings that end the output and are no part of it
 * @param thinking what becomes of the block in which some models think first
 * @param tools what the model may call
 * @param templateVariables more for the chat template to see, such as {@code enable_thinking}
 * @param promptLookup whether tokens that followed the last ones before are computed beside the next one
 * @param draftModel a session of a smaller model, whose tokens are computed beside the next one
 * @param timeout time from the beginning, prefill included, after which the generation ends as if it were cancelled
 * @param cancellation ends the generation from any thread; interrupting the thread that generates does the same
 * @param listeners who hears about it
 */
public record GenerateOptions(
        int maxNewTokens,
        Sampling sampling,
        Optional<Grammar> grammar,
        OptionalInt logprobs,
        boolean raw,
        List<String> stops,
        Thinking thinking,
        List<Tool> tools,
        Map<String, Object> templateVariables,
        boolean promptLookup,
        Optional<Session> draftModel,
        Optional<Duration> timeout,
        Cancellation cancellation,
        Listeners listeners) {

    /** What becomes of a thinking block. */
    public enum Thinking {
        /** It is text like everything else. */
        IN_TEXT,
        /** It is {@link Generation#thinking()}, and no part of the text. */
        SEPARATED
    }

    /**
     * Who hears about a generation, from the thread that generates. What a listener throws ends the generation with a {@link
     * GenerationException}; none may call the model it listens to, but for closing it.
     *
     * @param onText receives the text as it grows, in whole characters
     * @param onToken receives each token
     * @param onPrefill hears how many prompt tokens are done, after each window
     * @param onEnd receives the result, of a generation that was cancelled or failed too
     */
    public record Listeners(
            Consumer<String> onText, Consumer<Token> onToken, IntConsumer onPrefill, Consumer<Generation> onEnd) {

        public Listeners {
            Arguments.given(onText, "onText");
            Arguments.given(onToken, "onToken");
            Arguments.given(onPrefill, "onPrefill");
            Arguments.given(onEnd, "onEnd");
        }

        /** Nobody. */
        public static Listeners none() {
            return new Listeners(text -> {}, token -> {}, tokens -> {}, result -> {});
        }
    }

    public GenerateOptions {
        Arguments.given(sampling, "sampling");
        Arguments.given(grammar, "grammar");
        Arguments.given(logprobs, "logprobs");
        stops = OutputFormat.plain().withStops(Arguments.given(stops, "stops")).stops();
        Arguments.given(thinking, "thinking");
        Arguments.given(tools, "tools").forEach(tool -> Arguments.given(tool, "a tool"));
        tools = List.copyOf(tools);
        templateVariables = Map.copyOf(Arguments.given(templateVariables, "templateVariables"));
        if (raw && !tools.isEmpty()) {
            throw new IllegalArgumentException(
                    "tools are shown to the model by its chat template, which raw leaves out");
        }
        Arguments.given(timeout, "timeout");
        Arguments.given(cancellation, "cancellation");
        Arguments.given(listeners, "listeners");
        if (maxNewTokens < 0) {
            throw new IllegalArgumentException("maxNewTokens must not be negative, found " + maxNewTokens);
        }
        if (logprobs.isPresent() && logprobs.getAsInt() < 0) {
            throw new IllegalArgumentException("logprobs must not be negative, found " + logprobs.getAsInt());
        }
        if (timeout.isPresent() && timeout.get().isNegative()) {
            throw new IllegalArgumentException("timeout must not be negative, found " + timeout.get());
        }
    }

    /** Greedy, up to 256 new tokens, through the chat template, thinking as text. */
    public static GenerateOptions defaults() {
        return new GenerateOptions(
                256,
                Sampling.greedy(),
                Optional.empty(),
                OptionalInt.empty(),
                false,
                List.of(),
                Thinking.IN_TEXT,
                List.of(),
                Map.of(),
                false,
                Optional.empty(),
                Optional.empty(),
                new Cancellation(),
                Listeners.none());
    }

    /** Limit on new tokens; 0 generates nothing. */
    public GenerateOptions withMaxNewTokens(int limit) {
        return with(draft -> draft.maxNewTokens = limit);
    }

    /** How each token is chosen. */
    public GenerateOptions withSampling(Sampling other) {
        return with(draft -> draft.sampling = other);
    }

    /**
     * Holds the output to a grammar, such as {@link Grammar#jsonSchema}. A limit on tokens or a cancellation may still leave it
     * unfinished, as the finish reason then says; a stop string may too, and its reason is {@link
     * dev.torchane.llm.FinishReason#STOP} as for a whole output.
     */
    public GenerateOptions withGrammar(Grammar wanted) {
        return with(draft -> draft.grammar = Optional.of(Arguments.given(wanted, "grammar")));
    }

    /** Reports with each token its log probability and those of the {@code count} likeliest tokens. */
    public GenerateOptions withLogprobs(int count) {
        return with(draft -> draft.logprobs = OptionalInt.of(count));
    }

    /** Completes the prompt as it stands, without the chat template. */
    public GenerateOptions withRaw(boolean asItStands) {
        return with(draft -> draft.raw = asItStands);
    }

    /** Ends the output before the first of these strings, with the reason {@link dev.torchane.llm.FinishReason#STOP}. */
    public GenerateOptions withStop(String... strings) {
        return with(draft -> draft.stops = Arrays.asList(Arguments.given(strings, "stops")));
    }

    /** What becomes of a thinking block. */
    public GenerateOptions withThinking(Thinking wanted) {
        return with(draft -> draft.thinking = wanted);
    }

    /**
     * What the model may call: shown to it by its chat template, as transformers does. The calls it asks for are {@link
     * Generation#toolCalls()}; when the model writes them in another format than {@link
     * dev.torchane.text.ToolCallFormat} knows, they stay text. To go on, put {@link Generation#asMessage()} and a {@link
     * dev.torchane.text.ChatMessage#tool} for each call behind the chat.
     */
    public GenerateOptions withTools(Tool... mayBeCalled) {
        return with(draft -> draft.tools = Arrays.asList(Arguments.given(mayBeCalled, "tools")));
    }

    /**
     * One more thing for the chat template to see, such as {@code enable_thinking}: a map, list, string, number or boolean.
     */
    public GenerateOptions withTemplateVariable(String name, Object value) {
        return with(draft -> {
            draft.templateVariables = new HashMap<>(templateVariables);
            draft.templateVariables.put(Arguments.given(name, "name"), Arguments.given(value, "value"));
        });
    }

    /**
     * Decodes speculatively: when the last tokens stood together before, in the prompt or the answer, those that followed there are
     * computed beside the next one and kept as far as they are what the model says. The result is the same on the {@code jvm} engine;
     * a text that repeats much of its prompt comes sooner, and where proposals do not pay there are none. Has no effect in a
     * batch, nor with a bundle that was built without batch functions.
     */
    public GenerateOptions withPromptLookup(boolean wanted) {
        return with(draft -> draft.promptLookup = wanted);
    }

    /**
     * Computes tokens that a smaller model says beside the next token, and keeps them as far as they are what this model says: the answer is
     * the same, sooner where the smaller model is much faster and mostly right. Its tokens must be this model's; where they are
     * not, nothing is gained. Goes before {@link #withPromptLookup}. A bundle without batch functions ignores it.
     *
     * @param session of the smaller model, open and used by nobody else while this generates; it keeps what it has seen for the next
     *     answer
     */
    public GenerateOptions withDraftModel(Session session) {
        return with(draft -> draft.draftModel = Optional.of(Arguments.given(session, "session")));
    }

    /** Ends the generation after a time, with the reason {@link dev.torchane.llm.FinishReason#CANCELLED}. */
    public GenerateOptions withTimeout(Duration time) {
        return with(draft -> draft.timeout = Optional.of(Arguments.given(time, "timeout")));
    }

    /** Ends the generation when it is cancelled, with the reason {@link dev.torchane.llm.FinishReason#CANCELLED}. */
    public GenerateOptions withCancellation(Cancellation signal) {
        return with(draft -> draft.cancellation = signal);
    }

    /** Receives the text as it grows, in whole characters. */
    public GenerateOptions withOnText(Consumer<String> listener) {
        return with(draft ->
                draft.listeners = new Listeners(listener, listeners.onToken, listeners.onPrefill, listeners.onEnd));
    }

    /** Receives each token. */
    public GenerateOptions withOnToken(Consumer<Token> listener) {
        return with(draft ->
                draft.listeners = new Listeners(listeners.onText, listener, listeners.onPrefill, listeners.onEnd));
    }

    /** Hears how many prompt tokens are done, after each window. */
    public GenerateOptions withOnPrefill(IntConsumer listener) {
        return with(draft ->
                draft.listeners = new Listeners(listeners.onText, listeners.onToken, listener, listeners.onEnd));
    }

    /** Receives the result, of a generation that was cancelled or failed too. */
    public GenerateOptions withOnEnd(Consumer<Generation> listener) {
        return with(draft ->
                draft.listeners = new Listeners(listeners.onText, listeners.onToken, listeners.onPrefill, listener));
    }

    /** Who receives the text as it grows. */
    public Consumer<String> onText() {
        return listeners.onText;
    }

    /** Who hears how far the prefill is. */
    public IntConsumer onPrefill() {
        return listeners.onPrefill;
    }

    private GenerateOptions with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.options();
    }

    /** A copy that can be changed, so that each option is named once where it is set. */
    private static final class Draft {

        private int maxNewTokens;
        private Sampling sampling;
        private Optional<Grammar> grammar;
        private OptionalInt logprobs;
        private boolean raw;
        private List<String> stops;
        private Thinking thinking;
        private List<Tool> tools;
        private Map<String, Object> templateVariables;
        private boolean promptLookup;
        private Optional<Session> draftModel;
        private Optional<Duration> timeout;
        private Cancellation cancellation;
        private Listeners listeners;

        Draft(GenerateOptions from) {
            maxNewTokens = from.maxNewTokens;
            sampling = from.sampling;
            grammar = from.grammar;
            logprobs = from.logprobs;
            raw = from.raw;
            stops = from.stops;
            thinking = from.thinking;
            tools = from.tools;
            templateVariables = from.templateVariables;
            promptLookup = from.promptLookup;
            draftModel = from.draftModel;
            timeout = from.timeout;
            cancellation = from.cancellation;
            listeners = from.listeners;
        }

        GenerateOptions options() {
            return new GenerateOptions(
                    maxNewTokens,
                    sampling,
                    grammar,
                    logprobs,
                    raw,
                    stops,
                    thinking,
                    tools,
                    templateVariables,
                    promptLookup,
                    draftModel,
                    timeout,
                    cancellation,
                    listeners);
        }
    }
}
