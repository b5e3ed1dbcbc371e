package dev.torchane.cli;

import dev.torchane.GenerateOptions;
import dev.torchane.TorchAneException;
import dev.torchane.grammar.Grammar;
import dev.torchane.llm.Sampling;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Options that say how an answer is generated. */
final class GenerateFlags {

    @Option(names = "--max-tokens", description = "Limit on new tokens; default ${DEFAULT-VALUE}.")
    private int maxTokens = 256;

    @Option(names = "--raw", description = "Complete the prompt as it stands, without the model's chat template.")
    private boolean raw;

    @Option(
            names = "--temperature",
            description =
                    "Divides the logits; 0 takes the likeliest token. Default 0, or 1 when one of the options that"
                            + " follow asks for a draw.")
    private Optional<Double> temperature = Optional.empty();

    @Option(names = "--top-k", description = "Draw from the K likeliest tokens.")
    private Optional<Integer> topK = Optional.empty();

    @Option(names = "--top-p", description = "Draw from the likeliest tokens whose probabilities reach P.")
    private Optional<Double> topP = Optional.empty();

    @Option(names = "--min-p", description = "Draw from the tokens at least P times as likely as the likeliest.")
    private Optional<Double> minP = Optional.empty();

    @Option(names = "--seed", description = "Of the draw; the same seed gives the same answer.")
    private Optional<Long> seed = Optional.empty();

    @Option(names = "--repetition-penalty", description = "Makes tokens that occurred less likely; 1 changes nothing.")
    private double repetitionPenalty = 1;

    @Option(names = "--stop", paramLabel = "TEXT", description = "Ends the answer before this text; may be repeated.")
    private List<String> stops = new ArrayList<>();

    @Option(
            names = "--prompt-lookup",
            description =
                    "Computes what followed the last tokens before beside the next one: faster where an answer repeats"
                            + " its prompt, the same answer.")
    private boolean promptLookup;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "Ends the answer after this time.")
    private Optional<Double> timeout = Optional.empty();

    @Option(names = "--hide-thinking", description = "Leaves out the block in which some models think first.")
    private boolean hideThinking;

    @ArgGroup
    private Form form = new Form();

    /** What the answer is held to; one of them. */
    static final class Form {

        @Option(names = "--json", description = "The answer is JSON.")
        private boolean json;

        @Option(names = "--json-schema", paramLabel = "FILE", description = "The answer is JSON that fits this schema.")
        private Optional<Path> schema = Optional.empty();

        @Option(names = "--grammar", paramLabel = "FILE", description = "The answer fits this grammar (GBNF).")
        private Optional<Path> grammar = Optional.empty();

        @Option(names = "--regex", paramLabel = "EXPRESSION", description = "The answer matches as a whole.")
        private Optional<String> regex = Optional.empty();

        @Option(names = "--choice", paramLabel = "TEXT", description = "The answer is one of these; to be repeated.")
        private List<String> choices = new ArrayList<>();

        private Optional<Grammar> read() {
            if (json) {
                return Optional.of(Grammar.json());
            }
            if (!choices.isEmpty()) {
                return Optional.of(Grammar.choice(choices));
            }
            return schema.map(file -> Grammar.jsonSchema(text(file)))
                    .or(() -> grammar.map(file -> Grammar.gbnf(text(file))))
                    .or(() -> regex.map(Grammar::regex));
        }

        private static String text(Path file) {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                throw new TorchAneException(file + " cannot be read: " + e, e);
            }
        }
    }

    /** @throws TorchAneException when a file cannot be read, or is no grammar */
    GenerateOptions options() {
        GenerateOptions options = GenerateOptions.defaults()
                .withMaxNewTokens(maxTokens)
                .withRaw(raw)
                .withSampling(sampling())
                .withPromptLookup(promptLookup)
                .withStop(stops.toArray(String[]::new));
        if (hideThinking) {
            options = options.withThinking(GenerateOptions.Thinking.SEPARATED);
        }
        if (timeout.isPresent()) {
            options = options.withTimeout(Duration.ofMillis(Math.round(timeout.get() * 1000)));
        }
        Optional<Grammar> wanted = form.read();
        return wanted.isPresent() ? options.withGrammar(wanted.get()) : options;
    }

    private Sampling sampling() {
        boolean draws = topK.isPresent() || topP.isPresent() || minP.isPresent() || seed.isPresent();
        Sampling sampling = Sampling.temperature(temperature.orElse(draws ? 1.0 : 0.0))
                .withTopK(topK.orElse(0))
                .withTopP(topP.orElse(1.0))
                .withMinP(minP.orElse(0.0))
                .withRepetitionPenalty(repetitionPenalty);
        return seed.isPresent() ? sampling.withSeed(seed.get()) : sampling;
    }
}
