package dev.torchane.text;

import java.util.List;
import java.util.Optional;

/**
 * The block at the beginning of an output in which a model thinks.
 *
 * @param open the mark that opens it, {@code <think>}
 * @param close the mark that closes it, {@code </think>}
 * @param isOpen whether the prompt has opened the block already, so that the output begins inside it
 * @param separated whether the block becomes {@link OutputPart.Thinking}; else it stays text, marks included, in which no
 *     tool call is looked for
 */
public record ThinkingBlock(String open, String close, boolean isOpen, boolean separated) {

    /** Marks that models use. */
    private static final List<ThinkingBlock> KNOWN = List.of(
            of("<think>", "</think>"),
            of("[THINK]", "[/THINK]"),
            of("<seed:think>", "</seed:think>"),
            of("<|START_THINKING|>", "<|END_THINKING|>"));

    public ThinkingBlock {
        if (TextArguments.given(open, "open").isEmpty()
                || TextArguments.given(close, "close").isEmpty()) {
            throw new IllegalArgumentException("the marks of a thinking block must not be empty");
        }
    }

    /** A block with these marks, separated, that the model opens itself. */
    public static ThinkingBlock of(String open, String close) {
        return new ThinkingBlock(open, close, false, true);
    }

    /** The block whose marks a chat template writes, if it writes any that are known. */
    static Optional<ThinkingBlock> in(String template) {
        return KNOWN.stream().filter(block -> template.contains(block.close())).findFirst();
    }

    /** The block behind a prompt: open when the prompt ends in the mark that opens it. */
    ThinkingBlock behind(String prompt) {
        return new ThinkingBlock(open, close, prompt.stripTrailing().endsWith(open), separated);
    }

    /** Whether it becomes a part of its own. */
    public ThinkingBlock withSeparated(boolean other) {
        return new ThinkingBlock(open, close, isOpen, other);
    }
}
