package dev.torchane.text;

import dev.torchane.TorchAneException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The tokenizer of CLIP's text encoder, which sees prompts of one length: shorter ones are padded, longer ones cut. Usable from
 * several threads.
 */
public final class ClipTokenizer implements AutoCloseable {

    private static final String END_OF_WORD = "</w>";

    private final Tokenizer tokenizer;
    private final int length;
    private final int end;
    private final int padding;

    private ClipTokenizer(Tokenizer tokenizer, int length, int end, int padding) {
        this.tokenizer = tokenizer;
        this.length = length;
        this.end = end;
        this.padding = padding;
    }

    /**
     * Opens a pipeline's {@code tokenizer} directory: tokenizer.json, or vocab.json and merges.txt.
     *
     * @param length tokens of a prompt, those around it included; 77 for every Stable Diffusion
     * @throws TorchAneException when there is no tokenizer or it is damaged
     */
    public static ClipTokenizer open(Path directory, int length) {
        if (length < 2) {
            throw new IllegalArgumentException(
                    "length is " + length + "; a prompt has at least a beginning and an end");
        }
        Tokenizer tokenizer = Tokenizer.open(directory);
        try {
            String end = ClipTokenizerFiles.special(directory, "eos_token").orElse(ClipTokenizerFiles.END);
            String padding = ClipTokenizerFiles.special(directory, "pad_token").orElse(end);
            return new ClipTokenizer(
                    tokenizer, length, id(tokenizer, directory, end), id(tokenizer, directory, padding));
        } catch (RuntimeException failure) {
            tokenizer.close();
            throw failure;
        }
    }

    /** Tokens of every prompt. */
    public int length() {
        return length;
    }

    /** The ids of a prompt, and what of it had no room. */
    public Prompt encode(String text) {
        int[] whole = tokenizer.encode(text);
        int[] ids = Arrays.copyOf(whole, length);
        if (whole.length <= length) {
            Arrays.fill(ids, whole.length, length, padding);
            return new Prompt(ids, whole.length, "");
        }
        ids[length - 1] = end;
        String cut = tokenizer
                .decode(Arrays.copyOfRange(whole, length - 1, whole.length - 1), false)
                .replace(END_OF_WORD, " ")
                .strip();
        return new Prompt(ids, whole.length, cut);
    }

    @Override
    public void close() {
        tokenizer.close();
    }

    private static int id(Tokenizer tokenizer, Path directory, String token) {
        return tokenizer
                .id(token)
                .orElseThrow(() -> new TorchAneException("the tokenizer in " + directory + " has no token " + token));
    }

    /**
     * A prompt as CLIP sees it.
     *
     * @param ids beginning, text, end and padding: as many as {@link #length()}
     * @param tokens how many the whole prompt has, beginning and end included
     * @param cut the text that had no room; empty when all had
     */
    public record Prompt(int[] ids, int tokens, String cut) {}
}
