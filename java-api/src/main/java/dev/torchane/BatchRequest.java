package dev.torchane;

import dev.torchane.text.ChatMessage;
import java.util.List;

/**
 * One generation of a batch.
 *
 * @param prompt what it goes on from
 * @param options its own: sampling, seed, limits, listeners
 */
public record BatchRequest(Prompt prompt, GenerateOptions options) {

    /** What a generation goes on from. */
    public sealed interface Prompt {

        /** A user's turn in the chat template, or with {@link GenerateOptions#raw} a text as it stands. */
        record Text(String text) implements Prompt {}

        /** A chat to answer. */
        record Chat(List<ChatMessage> messages) implements Prompt {
            public Chat {
                messages = List.copyOf(Arguments.given(messages, "messages"));
            }
        }

        /** Ids. */
        record Ids(List<Integer> ids) implements Prompt {
            public Ids {
                ids = List.copyOf(Arguments.given(ids, "ids"));
            }
        }
    }

    public BatchRequest {
        Arguments.given(prompt, "prompt");
        Arguments.given(options, "options");
    }

    public static BatchRequest of(String text, GenerateOptions options) {
        return new BatchRequest(new Prompt.Text(Arguments.given(text, "text")), options);
    }

    public static BatchRequest of(List<ChatMessage> chat, GenerateOptions options) {
        return new BatchRequest(new Prompt.Chat(chat), options);
    }

    public static BatchRequest of(int[] ids, GenerateOptions options) {
        return new BatchRequest(
                new Prompt.Ids(java.util.Arrays.stream(Arguments.given(ids, "ids"))
                        .boxed()
                        .toList()),
                options);
    }
}
