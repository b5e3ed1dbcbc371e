package dev.torchane.grammar;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.StreamSupport;

/** The text of a schema, its pointers, and which keywords mean something. */
final class SchemaDocument {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private static final Set<String> ANNOTATIONS = Set.of(
            "$schema",
            "$comment",
            "$defs",
            "definitions",
            "title",
            "description",
            "default",
            "examples",
            "example",
            "deprecated",
            "readOnly",
            "writeOnly");

    private static final Set<String> CONSTRAINTS = Set.of(
            "$ref",
            "type",
            "properties",
            "required",
            "additionalProperties",
            "enum",
            "const",
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "anyOf",
            "oneOf",
            "allOf");

    /** A schema and the pointer that names it. */
    record Part(JsonNode schema, String pointer) {

        boolean has(String keyword) {
            return schema.has(keyword);
        }

        JsonNode get(String keyword) {
            return schema.get(keyword);
        }

        Part at(String keyword) {
            return new Part(schema.get(keyword), child(pointer, keyword));
        }

        Part at(String keyword, int index) {
            return new Part(schema.get(keyword).get(index), pointer + "/" + keyword + "/" + index);
        }

        Part at(String keyword, String name) {
            return new Part(schema.get(keyword).get(name), child(pointer + "/" + keyword, name));
        }

        GrammarException error(String problem) {
            return new GrammarException(pointer, problem);
        }

        GrammarException error(String keyword, String problem) {
            return new GrammarException(child(pointer, keyword), problem);
        }

        /** The keywords that constrain documents, after all of them were found to be known ones. */
        List<String> constraints() {
            if (schema.isBoolean()) {
                return schema.booleanValue() ? List.of() : List.of("false");
            }
            if (!schema.isObject()) {
                throw error("a schema is an object or a boolean, found " + shortened(schema));
            }
            List<String> names = names(schema);
            for (String name : names) {
                if (!ANNOTATIONS.contains(name)
                        && !CONSTRAINTS.contains(name)
                        && !(name.equals("$id") && pointer.equals("#"))) {
                    throw error(name, "the keyword " + name + " cannot be honoured; remove it or say it otherwise");
                }
            }
            requireShape("properties", has("properties") && !get("properties").isObject(), "an object of schemas");
            requireShape("required", has("required") && !isStrings(get("required")), "a list of strings");
            requireShape(
                    "type",
                    has("type") && !get("type").isTextual() && !isStrings(get("type")),
                    "a type or a list of types");
            return names.stream().filter(CONSTRAINTS::contains).toList();
        }

        private void requireShape(String keyword, boolean wrong, String wanted) {
            if (wrong) {
                throw error(keyword, "expected " + wanted + ", found " + shortened(get(keyword)));
            }
        }

        private static boolean isStrings(JsonNode list) {
            return list.isArray() && list.valueStream().allMatch(JsonNode::isTextual);
        }

        /** The schema without one keyword. */
        Part without(String keyword) {
            ObjectNode copy = ((ObjectNode) schema).objectNode();
            schema.properties().forEach(entry -> copy.set(entry.getKey(), entry.getValue()));
            copy.remove(keyword);
            return new Part(copy, pointer);
        }

        /** An integer that is not negative, or the default if the keyword is absent. */
        int count(String keyword, int ifAbsent) {
            JsonNode value = get(keyword);
            if (value == null) {
                return ifAbsent;
            }
            if (!value.isIntegralNumber() || value.bigIntegerValue().signum() < 0) {
                throw error(keyword, "expected an integer from 0 up, found " + shortened(value));
            }
            if (!value.canConvertToInt() || value.intValue() > TextCursor.MAX_REPETITIONS) {
                throw error(keyword, "limits go up to " + TextCursor.MAX_REPETITIONS);
            }
            return value.intValue();
        }

        /** The elements of a keyword that holds a list, which must not be empty. */
        int listSize(String keyword) {
            JsonNode list = get(keyword);
            if (!list.isArray() || list.isEmpty()) {
                throw error(keyword, "expected a list that is not empty, found " + shortened(list));
            }
            return list.size();
        }
    }

    private final JsonNode root;

    SchemaDocument(String text) {
        JsonNode parsed;
        try {
            parsed = MAPPER.readTree(text);
        } catch (JacksonException e) {
            throw new GrammarException(
                    e.getLocation() == null
                            ? "#"
                            : "line " + e.getLocation().getLineNr() + ", column "
                                    + e.getLocation().getColumnNr(),
                    "the schema is not JSON: " + e.getOriginalMessage());
        }
        if (parsed.isMissingNode()) {
            throw new GrammarException("#", "the schema is empty");
        }
        root = parsed;
    }

    Part root() {
        return new Part(root, "#");
    }

    /** What a part's {@code $ref} names. */
    Part resolve(Part part) {
        JsonNode reference = part.get("$ref");
        if (!reference.isTextual() || !reference.textValue().startsWith("#")) {
            throw part.error("$ref", "expected a reference within the document (#/…), found " + shortened(reference));
        }
        try {
            String path =
                    URLDecoder.decode(reference.textValue().substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
            JsonPointer pointer = JsonPointer.compile(path);
            JsonNode target = root.at(pointer);
            if (!target.isMissingNode()) {
                return new Part(target, canonical(pointer));
            }
        } catch (IllegalArgumentException e) {
            throw part.error("$ref", "not a JSON pointer: " + reference.textValue());
        }
        throw part.error("$ref", "there is nothing at " + reference.textValue());
    }

    private static String canonical(JsonPointer pointer) {
        String text = "#";
        for (JsonPointer rest = pointer; !rest.matches(); rest = rest.tail()) {
            text = child(text, rest.getMatchingProperty());
        }
        return text;
    }

    static List<String> names(JsonNode object) {
        return StreamSupport.stream(((Iterable<String>) object::fieldNames).spliterator(), false)
                .toList();
    }

    static String child(String pointer, String name) {
        return pointer + "/" + name.replace("~", "~0").replace("/", "~1");
    }

    static String shortened(JsonNode node) {
        String text = String.valueOf(node);
        return text.length() <= 60 ? text : text.substring(0, 57) + "…";
    }
}
