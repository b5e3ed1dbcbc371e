package dev.torchane.text;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** JSON that models and callers write. */
final class Json {

    private static final int MAX_DEPTH = 100;

    /** Models write line breaks into strings as they are; numbers keep every digit. */
    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .build())
                    .build())
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .build();

    private Json() {}

    /** The value of a text, where it is JSON and nothing else. */
    static Optional<JsonNode> read(String text) {
        try {
            JsonNode node = MAPPER.readTree(text);
            return node.isMissingNode() ? Optional.empty() : Optional.of(node);
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }

    /**
     * A JSON object as plain values.
     *
     * @throws IllegalArgumentException when it is not one; the message begins with {@code name}
     */
    static Map<String, Object> object(String text, String name) {
        try {
            JsonNode node = MAPPER.readTree(text);
            if (!node.isObject()) {
                throw new IllegalArgumentException(name + " must be a JSON object, found " + node.getNodeType());
            }
            return map(node);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(name + " is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    /** Plain values as JSON. */
    static String write(Map<String, ?> values) {
        try {
            return MAPPER.writeValueAsString(values);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("cannot be written as JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static Map<String, Object> map(JsonNode object) {
        Map<String, Object> map = new LinkedHashMap<>();
        object.properties().forEach(field -> map.put(field.getKey(), plain(field.getValue())));
        return Collections.unmodifiableMap(map);
    }

    private static Object plain(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> map(node);
            case ARRAY -> {
                List<Object> list = new ArrayList<>();
                node.forEach(item -> list.add(plain(item)));
                yield Collections.unmodifiableList(list);
            }
            case STRING -> node.textValue();
            case BOOLEAN -> node.booleanValue();
            case NUMBER -> number(node);
            default -> null;
        };
    }

    private static Object number(JsonNode node) {
        if (!node.isIntegralNumber()) {
            return node.doubleValue();
        }
        return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
    }
}
