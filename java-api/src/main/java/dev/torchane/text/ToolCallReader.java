package dev.torchane.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what stands behind the mark that opens a call, character by character. */
abstract sealed class ToolCallReader {

    /** What a character did. */
    enum Progress {
        /** It belongs to a call that goes on. */
        MORE,
        /** It ends a call: {@link #calls} has it. Another may follow. */
        CALLS,
        /** It ends the last call, or the mark behind it: {@link #calls} has what has not been announced. */
        CLOSED,
        /** It belongs to no call, nor to anything between calls: the reader is done, the text goes on with it. */
        DONE,
        /** What was read since the last call is none. */
        NONE
    }

    /**
     * A call as it was written.
     *
     * @param id the model's own; empty when it wrote none
     */
    record Call(String id, String name, String argumentsJson) {}

    private static final List<String> ARGUMENTS = List.of("arguments", "parameters");

    private final List<Call> calls = new ArrayList<>();

    abstract Progress accept(char c);

    /** The calls read since this was asked last. */
    final List<Call> calls() {
        List<Call> read = List.copyOf(calls);
        calls.clear();
        return read;
    }

    /**
     * Takes the calls out of a JSON object or array; returns whether it was nothing but calls.
     *
     * @param argumentsOptional whether a call without arguments is one
     */
    final boolean take(String json, boolean argumentsOptional) {
        calls.clear();
        JsonNode node = Json.read(json).orElse(null);
        if (node == null || node.isEmpty()) {
            return false;
        }
        for (JsonNode item : node.isArray() ? node : List.of(node)) {
            Optional<Call> call = call(item, argumentsOptional);
            if (call.isEmpty()) {
                calls.clear();
                return false;
            }
            calls.add(call.get());
        }
        return true;
    }

    /** Takes one call whose name stands outside of its arguments. */
    final boolean take(String id, String name, String argumentsJson) {
        calls.clear();
        Optional<JsonNode> arguments = Json.read(argumentsJson).filter(JsonNode::isObject);
        arguments.ifPresent(object -> calls.add(new Call(id, name, object.toString())));
        return arguments.isPresent();
    }

    private static Optional<Call> call(JsonNode node, boolean argumentsOptional) {
        JsonNode function = node.path("function").isObject() ? node.path("function") : node;
        String name = function.path("name").asText("");
        if (!function.path("name").isTextual() || name.isBlank()) {
            return Optional.empty();
        }
        return arguments(function, argumentsOptional)
                .map(arguments -> new Call(node.path("id").asText(""), name, arguments.toString()));
    }

    /** The arguments: an object, or an object as a string; none at all are an empty object. */
    private static Optional<JsonNode> arguments(JsonNode function, boolean optional) {
        for (String key : ARGUMENTS) {
            JsonNode arguments = function.path(key);
            if (arguments.isTextual()) {
                return Json.read(arguments.textValue()).filter(JsonNode::isObject);
            }
            if (!arguments.isMissingNode() && !arguments.isNull()) {
                return Optional.of(arguments).filter(JsonNode::isObject);
            }
        }
        return optional ? Optional.of(JsonNodeFactory.instance.objectNode()) : Optional.empty();
    }

    /** One object, or an array, then the mark that closes the call, which may be missing. */
    static final class Hermes extends ToolCallReader {

        private static final String CLOSE = "</tool_call>";

        private final JsonText json = new JsonText();
        private boolean isRead;
        private int closed;

        @Override
        Progress accept(char c) {
            if (isRead) {
                return tail(c);
            }
            if (!json.isBegun() && c != '{' && c != '[') {
                return SpaceKeeper.isSpace(c) ? Progress.MORE : Progress.NONE;
            }
            return switch (json.accept(c)) {
                case MORE -> Progress.MORE;
                case IMPOSSIBLE -> Progress.NONE;
                case COMPLETE -> {
                    isRead = true;
                    yield take(json.text(), true) ? Progress.CALLS : Progress.NONE;
                }
            };
        }

        private Progress tail(char c) {
            if (closed == 0 && SpaceKeeper.isSpace(c)) {
                return Progress.MORE;
            }
            if (c != CLOSE.charAt(closed)) {
                return Progress.DONE;
            }
            return ++closed < CLOSE.length() ? Progress.MORE : Progress.CLOSED;
        }
    }

    /** Objects with semicolons or white space between them. */
    static final class Llama3 extends ToolCallReader {

        private JsonText json = new JsonText();
        private boolean isFirst = true;

        @Override
        Progress accept(char c) {
            if (!json.isBegun() && c != '{') {
                boolean between = SpaceKeeper.isSpace(c) || !isFirst && c == ';';
                return between ? Progress.MORE : isFirst ? Progress.NONE : Progress.DONE;
            }
            return switch (json.accept(c)) {
                case MORE -> Progress.MORE;
                case IMPOSSIBLE -> Progress.NONE;
                case COMPLETE -> {
                    String text = json.text();
                    json = new JsonText();
                    isFirst = false;
                    yield take(text, false) ? Progress.CALLS : Progress.NONE;
                }
            };
        }
    }

    /** An array of calls, or a name and its arguments. */
    static final class Mistral extends ToolCallReader {

        private static final int LONGEST_NAME = 256;
        private static final Pattern NAME =
                Pattern.compile("\\s*([\\w.-]+)\\s*(?:\\[CALL_ID\\]\\s*(\\w+)\\s*)?(?:\\[ARGS\\]\\s*)?");

        private final StringBuilder head = new StringBuilder();
        private final JsonText json = new JsonText();

        @Override
        Progress accept(char c) {
            boolean begins = c == '{' || c == '[' && head.toString().isBlank();
            if (!json.isBegun() && !begins) {
                head.append(c);
                return head.length() > LONGEST_NAME ? Progress.NONE : Progress.MORE;
            }
            return switch (json.accept(c)) {
                case MORE -> Progress.MORE;
                case IMPOSSIBLE -> Progress.NONE;
                case COMPLETE -> takeAll() ? Progress.CLOSED : Progress.NONE;
            };
        }

        private boolean takeAll() {
            if (head.toString().isBlank()) {
                return take(json.text(), true);
            }
            Matcher matcher = NAME.matcher(head);
            return matcher.matches()
                    && take(Objects.requireNonNullElse(matcher.group(2), ""), matcher.group(1), json.text());
        }
    }
}
