package dev.torchane.text;

import dev.torchane.TorchAneException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Turns a chat into the text a model was trained on: the model's own Jinja template, rendered as transformers renders it
 * ({@code trim_blocks}, {@code lstrip_blocks}, {@code raise_exception}, {@code strftime_now}, Python's JSON). A template
 * sees maps, lists, strings and numbers, and is stopped when it takes too long or writes too much. Immutable, thread-safe.
 */
public final class ChatTemplate {

    /** Name of the template that is used unless another is asked for. */
    public static final String DEFAULT = "default";

    /** Name of the template that is used when there are tools, where a model has one. */
    static final String TOOL_USE = "tool_use";

    private static final String CHATML = "{% for message in messages %}"
            + "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
            + "{% endfor %}"
            + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

    private final Map<String, String> sources;
    private final Map<String, Object> specialTokens;
    private final Supplier<LocalDateTime> clock;
    private final boolean isFallback;
    private final Map<String, List<JinjaStatement>> parsed = new ConcurrentHashMap<>();

    ChatTemplate(Map<String, String> sources, Map<String, Object> specialTokens) {
        this(sources, specialTokens, LocalDateTime::now, false);
    }

    ChatTemplate(
            Map<String, String> sources,
            Map<String, Object> specialTokens,
            Supplier<LocalDateTime> clock,
            boolean isFallback) {
        this.sources = Map.copyOf(sources);
        this.specialTokens = Map.copyOf(specialTokens);
        this.clock = clock;
        this.isFallback = isFallback;
    }

    /** A template from its Jinja source, with nothing but the messages to see. */
    public static ChatTemplate of(String source) {
        return new ChatTemplate(Map.of(DEFAULT, source), Map.of());
    }

    /**
     * ChatML without a system message of its own: used for models that have its tokens and no template, and by who wants
     * to leave out the system message that a model's template would add.
     */
    public static ChatTemplate chatMl() {
        return new ChatTemplate(Map.of(DEFAULT, CHATML), Map.of(), LocalDateTime::now, true);
    }

    /** Whether this is {@link #chatMl()}, not a template that came with the model. */
    public boolean isChatMlFallback() {
        return isFallback;
    }

    /** Jinja source of the default template. */
    public String source() {
        return sources.get(DEFAULT);
    }

    /** Whether the template shows tools to the model; one that does not leaves them out without a word. */
    public boolean showsTools() {
        return sources.get(nameFor(true)).contains("tools");
    }

    /**
     * What to look for in the model's answer to a rendered chat: the thinking block whose marks the template knows, open
     * when the chat ends inside it, and tool calls in the template's format.
     *
     * @param rendered what {@link #render} gave, the beginning of the answer included
     * @param tools whether tools were rendered; without tools no calls are looked for
     */
    public OutputFormat outputFormat(String rendered, boolean tools) {
        String source = sources.get(nameFor(tools));
        return new OutputFormat(
                List.of(),
                ThinkingBlock.in(source).map(block -> block.behind(TextArguments.given(rendered, "rendered"))),
                tools ? ToolCallFormat.of(source) : Optional.empty());
    }

    /** Text of a chat, with the beginning of the assistant's answer when {@code addGenerationPrompt}. */
    public String render(List<ChatMessage> messages, boolean addGenerationPrompt) {
        return render(messages, addGenerationPrompt, Map.of());
    }

    /**
     * Text of a chat with tools.
     *
     * @param messages the chat, oldest first
     * @param tools what the model may call
     * @param addGenerationPrompt whether to begin the assistant's answer
     * @param variables more for the template to see: {@code enable_thinking}, {@code documents}; maps, lists, strings,
     *     numbers and booleans
     * @throws TorchAneException when there are tools and the template shows none, when it refuses the messages, or cannot be
     *     rendered
     */
    public String render(
            List<ChatMessage> messages, List<Tool> tools, boolean addGenerationPrompt, Map<String, ?> variables) {
        if (TextArguments.given(tools, "tools").isEmpty()) {
            return render(messages, addGenerationPrompt, variables);
        }
        if (!showsTools()) {
            throw new TorchAneException(
                    "the model's chat template shows no tools to the model: describe them in a system message, or take a"
                            + " model that was trained with tools");
        }
        Map<String, Object> all = new TreeMap<>(TextArguments.given(variables, "variables"));
        all.put("tools", tools.stream().map(Tool::asMap).toList());
        return render(messages, addGenerationPrompt, all);
    }

    /**
     * Text of a chat.
     *
     * @param messages the chat, oldest first
     * @param addGenerationPrompt whether to begin the assistant's answer
     * @param variables more for the template to see: {@code tools}, {@code enable_thinking}, {@code documents}; maps,
     *     lists, strings, numbers and booleans
     * @throws TorchAneException when the template refuses the messages or cannot be rendered
     */
    public String render(List<ChatMessage> messages, boolean addGenerationPrompt, Map<String, ?> variables) {
        TextArguments.given(messages, "messages");
        TextArguments.given(variables, "variables");
        return render(nameFor(variables.get("tools") != null), messages, addGenerationPrompt, variables);
    }

    private String nameFor(boolean tools) {
        return tools && sources.containsKey(TOOL_USE) ? TOOL_USE : DEFAULT;
    }

    private String render(
            String name, List<ChatMessage> messages, boolean addGenerationPrompt, Map<String, ?> variables) {
        Map<String, Object> all = new TreeMap<>(specialTokens);
        all.put("tools", null);
        all.put("documents", null);
        all.putAll(variables);
        all.put("messages", messages.stream().map(ChatMessage::asMap).toList());
        all.put("add_generation_prompt", addGenerationPrompt);
        try {
            List<JinjaStatement> template = parsed.computeIfAbsent(name, key -> JinjaParser.parse(sources.get(key)));
            return JinjaRenderer.render(template, JinjaGlobals.of(clock), all, new JinjaLimits());
        } catch (StackOverflowError e) {
            throw new TorchAneException("the model's chat template cannot be rendered: it is nested too deeply", e);
        } catch (JinjaError e) {
            String where = e.line() > 0 ? " in line " + e.line() : "";
            throw new TorchAneException(
                    e.isRaised()
                            ? "the model's chat template refuses the messages: " + e.getMessage()
                            : "the model's chat template cannot be rendered" + where + ": " + e.getMessage(),
                    e);
        }
    }
}
