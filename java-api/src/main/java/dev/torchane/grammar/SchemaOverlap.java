package dev.torchane.grammar;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.grammar.SchemaDocument.Part;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether one document could satisfy two schemas. {@code oneOf} means exactly one, so its branches can only be written as
 * alternatives when no two of them overlap. Where this cannot be seen from types, values, or a required property that tells them
 * apart, they count as overlapping.
 */
final class SchemaOverlap {

    private static final int MAX_DEPTH = 4;

    private SchemaOverlap() {}

    static void refuse(SchemaDocument document, Part part, List<Part> branches) {
        for (int i = 0; i < branches.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (!disjoint(document, branches.get(j), branches.get(i), 0)) {
                    throw part.error(
                            "oneOf",
                            "branches " + j + " and " + i
                                    + " may both hold, and oneOf wants exactly one: use anyOf, or give both a"
                                    + " required property with different const values");
                }
            }
        }
    }

    private static boolean disjoint(SchemaDocument document, Part first, Part second, int depth) {
        if (depth > MAX_DEPTH) {
            return false;
        }
        Part a = SchemaMerge.merge(document, List.of(first), first.pointer());
        Part b = SchemaMerge.merge(document, List.of(second), second.pointer());
        if (a.schema().isBoolean() || b.schema().isBoolean()) {
            return isFalse(a) || isFalse(b);
        }
        Set<String> types = types(a);
        types.retainAll(types(b));
        if (types.isEmpty()) {
            return true;
        }
        if (hasValues(a) && hasValues(b)) {
            return values(a).stream().noneMatch(value -> values(b).stream().anyMatch(other -> same(value, other)));
        }
        return types.equals(Set.of("object")) && (toldApart(document, a, b, depth) || lacks(a, b) || lacks(b, a));
    }

    private static boolean isFalse(Part part) {
        return part.schema().isBoolean() && !part.schema().booleanValue();
    }

    /** Whether a property that both require and describe never has the same value in both. */
    private static boolean toldApart(SchemaDocument document, Part a, Part b, int depth) {
        Set<String> names = required(a);
        names.retainAll(required(b));
        for (String name : names) {
            if (describes(a, name)
                    && describes(b, name)
                    && disjoint(document, a.at("properties", name), b.at("properties", name), depth + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one requires a property that the other forbids. */
    private static boolean lacks(Part requiring, Part closed) {
        JsonNode additional = closed.get("additionalProperties");
        return additional != null
                && additional.isBoolean()
                && !additional.booleanValue()
                && required(requiring).stream().anyMatch(name -> !describes(closed, name));
    }

    private static boolean describes(Part part, String name) {
        return part.has("properties") && part.get("properties").has(name);
    }

    private static Set<String> required(Part part) {
        Set<String> names = new HashSet<>();
        if (part.has("required")) {
            part.get("required").forEach(name -> names.add(name.textValue()));
        }
        return names;
    }

    /** The types that a document valid under the schema can have; integers count as numbers. */
    private static Set<String> types(Part part) {
        Set<String> types = new HashSet<>();
        JsonNode named = part.get("type");
        for (String type : List.of("null", "boolean", "string", "number", "object", "array")) {
            boolean allowed = named == null || isNamed(named, type);
            if (allowed && (!hasValues(part) || values(part).stream().anyMatch(value -> isOfType(value, type)))) {
                types.add(type);
            }
        }
        return types;
    }

    private static boolean isNamed(JsonNode named, String type) {
        if (named.isArray()) {
            return named.valueStream().anyMatch(each -> isNamed(each, type));
        }
        return named.textValue().equals(type)
                || type.equals("number") && named.textValue().equals("integer");
    }

    private static boolean hasValues(Part part) {
        return part.has("enum") || part.has("const");
    }

    /** The values that {@code enum} and {@code const} leave. */
    static List<JsonNode> values(Part part) {
        List<JsonNode> values = new ArrayList<>();
        if (part.has("enum")) {
            part.listSize("enum");
            part.get("enum").forEach(values::add);
        } else {
            values.add(part.get("const"));
        }
        if (part.has("const")) {
            values.removeIf(value -> !same(value, part.get("const")));
        }
        return values;
    }

    private static boolean same(JsonNode a, JsonNode b) {
        return a.equals(
                (x, y) -> x.isNumber() && y.isNumber()
                        ? x.decimalValue().compareTo(y.decimalValue())
                        : x.equals(y) ? 0 : 1,
                b);
    }

    static boolean isOfType(JsonNode value, String type) {
        return switch (type) {
            case "null" -> value.isNull();
            case "boolean" -> value.isBoolean();
            case "string" -> value.isTextual();
            case "number" -> value.isNumber();
            case "integer" ->
                value.isIntegralNumber()
                        || value.isNumber()
                                && value.decimalValue().stripTrailingZeros().scale() <= 0;
            case "object" -> value.isObject();
            default -> value.isArray();
        };
    }
}
