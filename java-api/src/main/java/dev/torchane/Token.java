package dev.torchane;

import dev.torchane.llm.TokenLogprobs;
import dev.torchane.text.OutputPart;
import java.util.List;
import java.util.Optional;

/**
 * A token as it is generated. Its text can come late: half a character, or the beginning of what may be a stop string, is held back
 * until a later token settles it. All tokens' texts, joined, are the generation's text.
 *
 * @param id token; {@link #NONE} for text that was held back when a generation was cut short
 * @param parts what became certain with this token, often one piece of text, sometimes nothing
 * @param logprobs when they were asked for
 */
public record Token(int id, List<OutputPart> parts, Optional<TokenLogprobs> logprobs) {

    /** The id of a token that is none. */
    public static final int NONE = -1;

    public Token {
        parts = List.copyOf(parts);
    }

    /** Text that became certain with this token, without thinking and tool calls; often empty. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (OutputPart part : parts) {
            if (part instanceof OutputPart.Text(String piece)) {
                text.append(piece);
            }
        }
        return text.toString();
    }
}
