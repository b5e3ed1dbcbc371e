package dev.torchane.text;

import java.util.Map;

/** A part of what a model wrote. Text and thinking come in pieces while a model writes; a call comes whole. */
public sealed interface OutputPart {

    /** Text for the reader. */
    record Text(String text) implements OutputPart {}

    /** What the model wrote into its thinking block, without the block's marks. */
    record Thinking(String text) implements OutputPart {}

    /**
     * A call of a tool that the model asks for. Whether there is such a tool, and whether the arguments fit it, is for the
     * caller to see.
     *
     * @param id names the call, so that its result can refer to it: nine letters and digits, the same whenever the same
     *     text is parsed; the model's own where its format has one
     * @param name the tool
     * @param argumentsJson a JSON object
     */
    record ToolCall(String id, String name, String argumentsJson) implements OutputPart {

        public ToolCall {
            TextArguments.given(id, "id");
            TextArguments.given(name, "name");
            TextArguments.given(argumentsJson, "argumentsJson");
        }

        /**
         * The arguments as maps, lists, strings, booleans, longs and doubles, in the order in which they were
         * written; a whole number of more than 64 bits is a BigInteger.
         *
         * @throws IllegalArgumentException when {@code argumentsJson} is not a JSON object
         */
        public Map<String, Object> arguments() {
            return Json.object(argumentsJson, "argumentsJson");
        }
    }
}
