package dev.torchane;

import dev.torchane.llm.FinishReason;
import dev.torchane.llm.GenerationStats;
import dev.torchane.llm.TokenLogprobs;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.OutputPart;
import java.util.ArrayList;
import java.util.List;

/**
 * What a generation produced.
 *
 * @param text new text, without the end-of-sequence token, stop strings and, where they are told apart, thinking and tool calls;
 *     empty when the model has no tokenizer
 * @param thinking what the model wrote into its thinking block; empty unless it was asked for, see {@link
 *     GenerateOptions#withThinking}
 * @param toolCalls calls that the model asks for, in the order in which it wrote them
 * @param ids new tokens; those of the end-of-sequence token or of a stop string that ended the generation included
 * @param reason why it ended
 * @param logprobs one for each of {@code ids} when they were asked for, else none
 * @param stats figures
 */
public record Generation(
        String text,
        String thinking,
        List<OutputPart.ToolCall> toolCalls,
        int[] ids,
        FinishReason reason,
        List<TokenLogprobs> logprobs,
        GenerationStats stats) {

    public Generation {
        toolCalls = List.copyOf(toolCalls);
        logprobs = List.copyOf(logprobs);
    }

    /** What was generated as a message of the chat that it answers. */
    public ChatMessage asMessage() {
        List<OutputPart> parts = new ArrayList<>();
        parts.add(new OutputPart.Thinking(thinking));
        parts.add(new OutputPart.Text(text));
        parts.addAll(toolCalls);
        return ChatMessage.assistant(parts);
    }
}
