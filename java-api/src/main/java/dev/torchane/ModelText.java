package dev.torchane;

import dev.torchane.grammar.Vocabulary;
import dev.torchane.llm.ContextOverflowException;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.ChatTemplate;
import dev.torchane.text.OutputFormat;
import dev.torchane.text.Tokenizer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The text side of a model: prompts become ids, and generations get what they need of the tokenizer. */
final class ModelText {

    /** Tokens at the end of a prompt in which a thinking block may have been opened. */
    private static final int END = 16;

    private final Path bundle;
    private final Optional<Tokenizer> tokenizer;
    private final Set<Integer> eos;
    private final int vocab;
    private final int maxLen;
    private final GrammarSteps grammars = new GrammarSteps(this::vocabulary);

    /**
     * @param eos ids that end a generation, as far as the bundle's manifest names them; the tokenizer's are added
     * @param vocab entries of the model's logits
     * @param maxLen tokens of the model's context
     */
    ModelText(Path bundle, Optional<Tokenizer> tokenizer, List<Integer> eos, int vocab, int maxLen) {
        this.bundle = bundle;
        this.tokenizer = tokenizer;
        this.vocab = vocab;
        this.maxLen = maxLen;
        Set<Integer> all = new HashSet<>(eos);
        tokenizer.ifPresent(known -> all.addAll(known.ends()));
        this.eos = Set.copyOf(all);
    }

    /** Ids of a prompt: as it stands, or as the user's turn in the chat template. */
    int[] encode(String prompt, GenerateOptions options) {
        Arguments.given(prompt, "prompt");
        return options.raw() ? encodeRaw(prompt, true) : encode(List.of(ChatMessage.user(prompt)), options);
    }

    /** Ids of a text as it stands; at the beginning with the token that begins a text. */
    int[] encodeRaw(String text, boolean beginning) {
        return known().encode(fitting(text), beginning);
    }

    /** Ids of a chat that the model is to go on with. */
    int[] encode(List<ChatMessage> chat, GenerateOptions options) {
        ChatTemplate template = known().chatTemplate()
                .orElseThrow(() -> new TorchAneException(bundle
                        + " has no chat template: complete the text as it stands with GenerateOptions.withRaw(true)"
                        + " (--raw on the command line)"));
        Arguments.given(chat, "chat");
        return known().encodeChat(fitting(template.render(chat, options.tools(), true, options.templateVariables())));
    }

    /** A text that is not so long that it need not be encoded to see that it does not fit. */
    private String fitting(String prompt) {
        int tokens = known().fewestTokens(prompt.length());
        if (tokens > maxLen) {
            throw ContextOverflowException.ofText(prompt.length(), tokens, maxLen);
        }
        return prompt;
    }

    /** A stream of generation behind a prompt. */
    TextGeneration newGeneration(int[] prompt, GenerateOptions options) {
        OutputFormat format = format(prompt, options).withStops(options.stops());
        return new TextGeneration(
                options,
                new TextGeneration.Parts(
                        eos,
                        options.grammar().map(grammars::newStep),
                        tokenizer.map(known -> known.incrementalDecoder(format)),
                        format.newParser()));
    }

    /** What the chat template says about the answer to a prompt, as far as the options ask for it. */
    private OutputFormat format(int[] prompt, GenerateOptions options) {
        boolean separated = options.thinking() == GenerateOptions.Thinking.SEPARATED;
        boolean tools = !options.tools().isEmpty();
        Optional<ChatTemplate> template = tokenizer.flatMap(Tokenizer::chatTemplate);
        if (template.isEmpty() || options.raw() || !separated && !tools) {
            return OutputFormat.plain();
        }
        String end = known().decode(Arrays.copyOfRange(prompt, Math.max(0, prompt.length - END), prompt.length), false);
        OutputFormat whole = template.get().outputFormat(end, tools);
        // A grammar leaves no place for thoughts in a block that the prompt has opened.
        return new OutputFormat(
                List.of(),
                whole.thinking()
                        .filter(block -> options.grammar().isEmpty() || !block.isOpen())
                        .map(block -> block.withSeparated(separated)),
                whole.toolCalls());
    }

    private Tokenizer known() {
        return tokenizer.orElseThrow(() -> new TorchAneException(
                bundle + " has no tokenizer: give token ids, or build from a checkpoint with tokenizer.json"));
    }

    private Vocabulary vocabulary() {
        byte[][] bytes = known().tokenBytes();
        return Vocabulary.of(
                Arrays.copyOf(bytes, Math.min(bytes.length, vocab)),
                Set.of(),
                eos.stream().filter(id -> id < Math.min(bytes.length, vocab)).collect(Collectors.toSet()));
    }
}
