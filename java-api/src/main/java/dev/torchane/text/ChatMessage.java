package dev.torchane.text;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One message of a chat.
 *
 * @param role who speaks: {@code system}, {@code user}, {@code assistant}, {@code tool}
 * @param content what is said
 * @param more further fields that a template may read, such as {@code tool_calls}: maps, lists, strings, numbers
 */
public record ChatMessage(String role, String content, Map<String, Object> more) {

    public ChatMessage {
        more = Map.copyOf(more);
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

    /** The message as a template sees it. */
    Map<String, Object> asMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("role", role);
        map.put("content", content);
        map.putAll(more);
        return map;
    }
}
