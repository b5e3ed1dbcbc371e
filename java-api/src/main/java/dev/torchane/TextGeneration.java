package dev.torchane;

import dev.torchane.llm.GenerationStats;
import dev.torchane.llm.LogitsStep;
import dev.torchane.llm.NewToken;
import dev.torchane.llm.TokenLogprobs;
import dev.torchane.llm.TokenStream;
import dev.torchane.text.IncrementalDecoder;
import dev.torchane.text.OutputParser;
import dev.torchane.text.OutputPart;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One stream of generation from its options to its result: the {@link TokenStream}, which whoever computes logits drives, with the text behind
 * it. Decodes ids, divides the text into parts, tells the listeners, ends the stream at a stop string.
 */
final class TextGeneration {

    /**
     * What a stream needs of the model.
     *
     * @param eos ids that end it
     * @param grammar holds it to a grammar, when the options have one
     * @param decoder of its ids, when the model has a tokenizer
     * @param parser of its text
     */
    record Parts(
            Set<Integer> eos,
            Optional<LogitsStep> grammar,
            Optional<IncrementalDecoder> decoder,
            OutputParser parser) {}

    private static final System.Logger LOGGER = System.getLogger("dev.torchane.generation");

    private final GenerateOptions.Listeners listeners;
    private final Optional<IncrementalDecoder> decoder;
    private final OutputParser parser;
    private final TokenStream tokens;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder thinking = new StringBuilder();
    private final List<OutputPart.ToolCall> toolCalls = new ArrayList<>();
    private final GenerationEvent event = new GenerationEvent();
    private boolean flushed;
    private Optional<Generation> result = Optional.empty();

    TextGeneration(GenerateOptions options, Parts parts) {
        this.listeners = options.listeners();
        this.decoder = parts.decoder();
        this.parser = parts.parser();
        this.tokens = new TokenStream(new TokenStream.Rules(
                options.sampling().newSampler(parts.grammar().stream().toList()),
                parts.eos(),
                options.maxNewTokens(),
                options.logprobs().orElse(-1),
                cancelled(options),
                this::accept));
        event.begin();
    }

    private static BooleanSupplier cancelled(GenerateOptions options) {
        Cancellation cancellation = options.cancellation();
        BooleanSupplier asked =
                () -> cancellation.isCancelled() || Thread.currentThread().isInterrupted();
        if (options.timeout().isEmpty()) {
            return asked;
        }
        Duration timeout = options.timeout().get();
        long began = System.nanoTime();
        return () -> asked.getAsBoolean() || timeout.compareTo(Duration.ofNanos(System.nanoTime() - began)) <= 0;
    }

    /** The ids' side, to be driven with logits. */
    TokenStream tokens() {
        return tokens;
    }

    private boolean accept(NewToken token) {
        List<OutputPart> parts = new ArrayList<>();
        if (!token.isEndOfSequence() && decoder.isPresent()) {
            parts.addAll(parser.append(decoder.get().append(token.id())));
        }
        if (token.end().isPresent() || parser.stopped()) {
            parts.addAll(flush());
        }
        deliver(token.id(), parts, token.logprobs());
        return !parser.stopped();
    }

    /** What was held back. */
    private List<OutputPart> flush() {
        if (flushed) {
            return List.of();
        }
        flushed = true;
        List<OutputPart> parts = new ArrayList<>();
        decoder.ifPresent(incremental -> parts.addAll(parser.append(incremental.finish())));
        parts.addAll(parser.finish());
        return parts;
    }

    private void deliver(int id, List<OutputPart> parts, Optional<TokenLogprobs> logprobs) {
        keep(parts);
        Token token = new Token(id, parts, logprobs);
        String piece = token.text();
        if (!piece.isEmpty()) {
            listeners.onText().accept(piece);
        }
        listeners.onToken().accept(token);
    }

    private void keep(List<OutputPart> parts) {
        for (OutputPart part : parts) {
            switch (part) {
                case OutputPart.Text(String piece) -> text.append(piece);
                case OutputPart.Thinking(String piece) -> thinking.append(piece);
                case OutputPart.ToolCall call -> toolCalls.add(call);
            }
        }
    }

    /** The result of a stream that has ended; the listeners hear the rest of its text, and that it is over. */
    Generation end() {
        List<OutputPart> rest = flush();
        if (!rest.isEmpty()) {
            deliver(Token.NONE, rest, Optional.empty());
        }
        Generation ended = result();
        result = Optional.of(ended);
        record(ended);
        listeners.onEnd().accept(ended);
        return ended;
    }

    /** Ends the stream because of a failure; the exception carries what there is. */
    GenerationException failed(RuntimeException cause) {
        if (result.isPresent()) {
            return new GenerationException(result.get(), cause);
        }
        tokens.fail();
        keep(flush());
        GenerationException failure = new GenerationException(result(), cause);
        record(failure.partial());
        try {
            listeners.onEnd().accept(failure.partial());
        } catch (RuntimeException another) {
            failure.addSuppressed(another);
        }
        return failure;
    }

    private void record(Generation ended) {
        GenerationStats stats = ended.stats();
        LOGGER.log(
                Level.DEBUG,
                () -> "%s after %d tokens behind a prompt of %d (%d of them cached): prefill %.1f ms, decode %.1f ms"
                        .formatted(
                                ended.reason(),
                                stats.newTokens(),
                                stats.promptTokens(),
                                stats.cachedTokens(),
                                stats.prefillNanos() / 1e6,
                                stats.decodeNanos() / 1e6));
        event.promptTokens = stats.promptTokens();
        event.cachedTokens = stats.cachedTokens();
        event.newTokens = stats.newTokens();
        event.reason = ended.reason().name();
        event.commit();
    }

    private Generation result() {
        return new Generation(
                text.toString(),
                thinking.toString(),
                toolCalls,
                tokens.ids(),
                tokens.reason(),
                tokens.logprobs(),
                tokens.stats());
    }
}
