package dev.torchane.grammar;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Pattern;

/** Says whether a document is valid, written from the specification and without the grammar's own code. */
record SchemaValidator(JsonNode root) {

    boolean valid(JsonNode value) {
        return valid(root, value);
    }

    private boolean valid(JsonNode schema, JsonNode value) {
        if (schema.isBoolean()) {
            return schema.booleanValue();
        }
        return schema.properties().stream().allMatch(entry -> holds(entry.getKey(), entry.getValue(), schema, value));
    }

    private boolean holds(String keyword, JsonNode wanted, JsonNode schema, JsonNode value) {
        return switch (keyword) {
            case "$ref" -> valid(root.at(wanted.textValue().substring(1)), value);
            case "type" ->
                wanted.isArray() ? wanted.valueStream().anyMatch(type -> isOf(type, value)) : isOf(wanted, value);
            case "const" -> wanted.equals(value);
            case "enum" -> wanted.valueStream().anyMatch(value::equals);
            case "allOf" -> wanted.valueStream().allMatch(each -> valid(each, value));
            case "anyOf" -> wanted.valueStream().anyMatch(each -> valid(each, value));
            case "oneOf" ->
                wanted.valueStream().filter(each -> valid(each, value)).count() == 1;
            case "properties" ->
                wanted.properties().stream()
                        .allMatch(
                                each -> !value.has(each.getKey()) || valid(each.getValue(), value.get(each.getKey())));
            case "required" -> !value.isObject() || wanted.valueStream().allMatch(name -> value.has(name.textValue()));
            case "additionalProperties" ->
                value.properties().stream()
                        .allMatch(
                                each -> schema.path("properties").has(each.getKey()) || valid(wanted, each.getValue()));
            case "prefixItems" -> {
                boolean all = true;
                for (int i = 0; i < wanted.size() && i < value.size() && value.isArray(); i++) {
                    all &= valid(wanted.get(i), value.get(i));
                }
                yield all;
            }
            case "items" -> {
                boolean all = true;
                for (int i = schema.path("prefixItems").size(); i < value.size() && value.isArray(); i++) {
                    all &= valid(wanted, value.get(i));
                }
                yield all;
            }
            case "minItems" -> !value.isArray() || value.size() >= wanted.intValue();
            case "maxItems" -> !value.isArray() || value.size() <= wanted.intValue();
            case "minLength" -> !value.isTextual() || length(value) >= wanted.intValue();
            case "maxLength" -> !value.isTextual() || length(value) <= wanted.intValue();
            case "pattern" ->
                !value.isTextual()
                        || Pattern.compile(wanted.textValue())
                                .matcher(value.textValue())
                                .find();
            case "minimum" -> !value.isNumber() || value.doubleValue() >= wanted.doubleValue();
            case "maximum" -> !value.isNumber() || value.doubleValue() <= wanted.doubleValue();
            case "exclusiveMinimum" -> !value.isNumber() || value.doubleValue() > wanted.doubleValue();
            case "exclusiveMaximum" -> !value.isNumber() || value.doubleValue() < wanted.doubleValue();
            case "format" -> !value.isTextual() || isFormat(wanted.textValue(), value.textValue());
            case "$defs", "title", "description" -> true;
            default -> throw new AssertionError("the validator does not know " + keyword);
        };
    }

    private static int length(JsonNode text) {
        return text.textValue().codePointCount(0, text.textValue().length());
    }

    private static boolean isOf(JsonNode type, JsonNode value) {
        return switch (type.textValue()) {
            case "null" -> value.isNull();
            case "boolean" -> value.isBoolean();
            case "string" -> value.isTextual();
            case "number" -> value.isNumber();
            case "integer" -> value.isIntegralNumber();
            case "array" -> value.isArray();
            case "object" -> value.isObject();
            default -> throw new AssertionError(type);
        };
    }

    private static boolean isFormat(String format, String text) {
        try {
            Object parsed = switch (format) {
                case "date" -> LocalDate.parse(text);
                case "date-time" -> OffsetDateTime.parse(text);
                case "time" -> OffsetTime.parse(text);
                case "uuid" -> UUID.fromString(text);
                default ->
                    Arrays.stream(text.split("\\."))
                                    .map(part ->
                                            part.equals("0") || !part.startsWith("0") && Integer.parseInt(part) < 256)
                                    .reduce(true, Boolean::logicalAnd)
                            ? text
                            : "";
            };
            return !parsed.toString().isEmpty();
        } catch (DateTimeException | IllegalArgumentException e) {
            return false;
        }
    }
}
