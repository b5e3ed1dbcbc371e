package dev.torchane.text;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** How a model writes tool calls. */
public enum ToolCallFormat {

    /**
     * {@code <tool_call>{"name": …, "arguments": {…}}</tool_call>}, any number of them anywhere in the text, an array of calls
     * too: Hermes, Qwen2.5, Qwen3 and many others.
     */
    HERMES(List.of("<tool_call>"), List.of("<tool_call>", "</tool_call>")),

    /**
     * {@code {"name": …, "parameters": {…}}} as the whole output, several with {@code ;} between them, or behind
     * {@code <|python_tag|>}: Llama 3.1 to 3.3.
     */
    LLAMA3(List.of("<|python_tag|>"), List.of("<|python_tag|>")),

    /**
     * {@code [TOOL_CALLS][{"name": …, "arguments": {…}}]}, or {@code [TOOL_CALLS]name[ARGS]{…}}: Mistral.
     */
    MISTRAL(List.of("[TOOL_CALLS]"), List.of("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"));

    /** A call's name, in a string of either kind. */
    private static final Pattern NAME = Pattern.compile("\\\\?\"name\\\\?\"");

    private final List<String> openings;
    private final List<String> marks;

    ToolCallFormat(List<String> openings, List<String> marks) {
        this.openings = openings;
        this.marks = marks;
    }

    /** The format that a chat template (Jinja) teaches the model, if it is one of these. */
    public static Optional<ToolCallFormat> of(String template) {
        TextArguments.given(template, "template");
        boolean otherThanJson = template.contains("<function=") || template.contains("<arg_key>");
        if (!template.contains("tools") || otherThanJson) {
            return Optional.empty();
        }
        if (template.contains("[TOOL_CALLS]")) {
            return Optional.of(MISTRAL);
        }
        if (template.contains("<tool_call>")) {
            return NAME.matcher(template).find() ? Optional.of(HERMES) : Optional.empty();
        }
        boolean llama = template.contains("<|python_tag|>")
                || template.contains("<|start_header_id|>") && template.contains("\"parameters\"");
        return llama ? Optional.of(LLAMA3) : Optional.empty();
    }

    /** Marks behind which a call begins. */
    List<String> openings() {
        return openings;
    }

    /** Everything that may be a token of its own and has to reach the parser. */
    List<String> marks() {
        return marks;
    }

    /** Whether an output that begins with a brace may be a call. */
    boolean beginsBare() {
        return this == LLAMA3;
    }

    ToolCallReader newReader() {
        return switch (this) {
            case HERMES -> new ToolCallReader.Hermes();
            case LLAMA3 -> new ToolCallReader.Llama3();
            case MISTRAL -> new ToolCallReader.Mistral();
        };
    }
}
