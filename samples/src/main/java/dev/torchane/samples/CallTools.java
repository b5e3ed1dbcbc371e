package dev.torchane.samples;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.text.ChatMessage;
import dev.torchane.text.OutputPart.ToolCall;
import dev.torchane.text.Tool;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers a question with the help of a tool: {@code CallTools MODEL "What is 1234 times 5678?"}. The model is one that was
 * trained with tools, such as Qwen2.5-1.5B-Instruct.
 */
public final class CallTools {

    private static final int MOST_TURNS = 5;
    private static final Tool MULTIPLY = new Tool("multiply", "Multiplies two numbers exactly.", """
                    {"type": "object",
                     "properties": {
                       "a": {"type": "number", "description": "The first number."},
                       "b": {"type": "number", "description": "The second number."}},
                     "required": ["a", "b"]}""");

    private CallTools() {}

    /** Prints the calls and the answer. */
    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: CallTools MODEL QUESTION");
            System.exit(2);
        }
        try (CausalLM lm = CausalLM.fromPretrained(arguments[0], CausalLMOptions.defaults())) {
            List<ChatMessage> chat = new ArrayList<>(List.of(ChatMessage.user(arguments[1])));
            GenerateOptions options = GenerateOptions.defaults()
                    .withTools(MULTIPLY)
                    .withThinking(GenerateOptions.Thinking.SEPARATED)
                    .withMaxNewTokens(512);
            for (int turn = 0; turn < MOST_TURNS; turn++) {
                Generation answer = lm.generate(chat, options);
                chat.add(answer.asMessage());
                if (answer.toolCalls().isEmpty()) {
                    System.out.println(answer.text());
                    return;
                }
                for (ToolCall call : answer.toolCalls()) {
                    String result = result(call);
                    System.out.println(call.name() + " " + call.argumentsJson() + " = " + result);
                    chat.add(ChatMessage.tool(call, result));
                }
            }
            System.out.println("no answer after " + MOST_TURNS + " turns");
        }
    }

    /** What goes back to the model; a mistake too, so that it can correct itself. */
    private static String result(ToolCall call) {
        if (!call.name().equals(MULTIPLY.name())) {
            return "there is no tool " + call.name();
        }
        try {
            BigDecimal a = new BigDecimal(String.valueOf(call.arguments().get("a")));
            BigDecimal b = new BigDecimal(String.valueOf(call.arguments().get("b")));
            return a.multiply(b).toPlainString();
        } catch (NumberFormatException e) {
            return "a and b must be numbers";
        }
    }
}
