package dev.torchane.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One message of a chat.
 *
 * @param role who speaks: {@code system}, {@code user}, {@code assistant}, {@code tool}
 * @param content what is said
 * @param more further fields that a template may read, such as {@code tool_calls}: maps, lists, strings, numbers, in their
 *     order
 */
public record ChatMessage(String role, String content, Map<String, Object> more) {

    public ChatMessage {
        TextArguments.given(role, "role");
        TextArguments.given(content, "content");
        more = Collections.unmodifiableMap(new LinkedHashMap<>(TextArguments.given(more, "more")));
    }

    public ChatMessage(String role, String content) {
        this(role, content, Map.of());
    }

    /** Instructions that stand before the chat. */
    public static ChatMessage system(String content) {
        return new ChatMessage("system", content);
    }

    /** What the person says. */
    public static ChatMessage user(String content) {
        return new ChatMessage("user", content);
    }

    /** What the model said. */
    public static ChatMessage assistant(String content) {
        return new ChatMessage("assistant", content);
    }

    /**
     * What the model said, thought and called. Most templates leave out the thoughts of earlier turns, and keep those
     * between a call and its result.
     */
    public static ChatMessage assistant(List<OutputPart> parts) {
        StringBuilder content = new StringBuilder();
        StringBuilder thinking = new StringBuilder();
        List<Map<String, Object>> calls = new ArrayList<>();
        for (OutputPart part : TextArguments.given(parts, "parts")) {
            switch (part) {
                case OutputPart.Text(String text) -> content.append(text);
                case OutputPart.Thinking(String text) -> thinking.append(text);
                case OutputPart.ToolCall call -> calls.add(asMap(call));
            }
        }
        Map<String, Object> more = new LinkedHashMap<>();
        if (!thinking.isEmpty()) {
            more.put("reasoning_content", thinking.toString());
        }
        if (!calls.isEmpty()) {
            more.put("tool_calls", List.copyOf(calls));
        }
        return new ChatMessage("assistant", content.toString(), more);
    }

    /** What a tool answered to a call of the model; stands behind the message with the call. */
    public static ChatMessage tool(OutputPart.ToolCall call, String content) {
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("name", TextArguments.given(call, "call").name());
        more.put("tool_call_id", call.id());
        return new ChatMessage("tool", content, more);
    }

    /** A chat as text that {@link #fromJson} reads. */
    public static String toJson(List<ChatMessage> chat) {
        return Json.write(
                Map.of("messages", chat.stream().map(ChatMessage::asMap).toList()));
    }

    /**
     * A chat from the text that {@link #toJson} wrote.
     *
     * @throws IllegalArgumentException when it is something else
     */
    public static List<ChatMessage> fromJson(String json) {
        List<ChatMessage> chat = new ArrayList<>();
        if (Json.object(json, "the chat").get("messages") instanceof List<?> messages) {
            for (Object message : messages) {
                Map<String, Object> more = new LinkedHashMap<>();
                if (message instanceof Map<?, ?> fields) {
                    fields.forEach((name, value) -> more.put(String.valueOf(name), value));
                }
                if (!(more.remove("role") instanceof String role)
                        || !(more.remove("content") instanceof String content)) {
                    throw new IllegalArgumentException("a message needs a role and a content, found " + message);
                }
                chat.add(new ChatMessage(role, content, more));
            }
        }
        return List.copyOf(chat);
    }

    /** The message as a template sees it. */
    Map<String, Object> asMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("role", role);
        map.put("content", content);
        map.putAll(more);
        return map;
    }

    private static Map<String, Object> asMap(OutputPart.ToolCall call) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", call.name());
        function.put("arguments", call.arguments());
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", call.id());
        map.put("type", "function");
        map.put("function", Collections.unmodifiableMap(function));
        return Collections.unmodifiableMap(map);
    }
}
