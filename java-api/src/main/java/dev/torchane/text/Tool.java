package dev.torchane.text;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A tool that a model may call.
 *
 * @param name letters, digits, {@code _}, {@code -} and {@code .}
 * @param description what it does, for the model to read
 * @param parametersJson JSON Schema of its arguments, an object; its keys keep their order in the prompt
 */
public record Tool(String name, String description, String parametersJson) {

    private static final String NO_PARAMETERS = "{\"type\": \"object\", \"properties\": {}}";

    /** @throws IllegalArgumentException when the name has other characters, or the schema is not a JSON object */
    public Tool {
        if (!TextArguments.given(name, "name").matches("[\\w.-]+")) {
            throw new IllegalArgumentException(
                    "the name of a tool is made of letters, digits, '_', '-' and '.', found '" + name + "'");
        }
        TextArguments.given(description, "description");
        Json.object(
                TextArguments.given(parametersJson, "parametersJson"),
                "the schema of the parameters of '" + name + "'");
    }

    /** A tool with its JSON Schema as maps and lists; give maps that keep their order. */
    public static Tool of(String name, String description, Map<String, ?> parameters) {
        return new Tool(name, description, Json.write(TextArguments.given(parameters, "parameters")));
    }

    /** A tool without arguments. */
    public static Tool of(String name, String description) {
        return new Tool(name, description, NO_PARAMETERS);
    }

    /** JSON Schema of the arguments as maps, lists, strings, booleans, longs and doubles. */
    public Map<String, Object> parameters() {
        return Json.object(parametersJson, "parametersJson");
    }

    /** The tool as a template sees it. */
    Map<String, Object> asMap() {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", name);
        function.put("description", description);
        function.put("parameters", parameters());
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("type", "function");
        map.put("function", function);
        return map;
    }
}
