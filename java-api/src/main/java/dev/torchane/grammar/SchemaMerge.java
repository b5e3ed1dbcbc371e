package dev.torchane.grammar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.torchane.grammar.SchemaDocument.Part;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Makes one schema of several that must all hold, where the keywords allow it without loss. */
final class SchemaMerge {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final SchemaDocument document;
    private final List<Part> flat = new ArrayList<>();
    private final Set<String> open = new LinkedHashSet<>();

    private SchemaMerge(SchemaDocument document) {
        this.document = document;
    }

    /** @param pointer the name of the merged schema */
    static Part merge(SchemaDocument document, List<Part> parts, String pointer) {
        SchemaMerge merge = new SchemaMerge(document);
        parts.forEach(merge::flatten);
        return merge.merged(pointer);
    }

    /** Takes references and {@code allOf} apart. */
    private void flatten(Part part) {
        List<String> constraints = part.constraints();
        if (constraints.isEmpty()) {
            return;
        }
        if (part.has("$ref")) {
            Part target = document.resolve(part);
            if (!open.add(target.pointer())) {
                throw part.error("$ref", "the schema contains itself");
            }
            flatten(target);
            open.remove(target.pointer());
            flatten(part.without("$ref"));
        } else if (part.has("allOf")) {
            for (int i = 0; i < part.listSize("allOf"); i++) {
                flatten(part.at("allOf", i));
            }
            flatten(part.without("allOf"));
        } else {
            flat.add(part);
        }
    }

    private Part merged(String pointer) {
        if (flat.size() == 1) {
            return new Part(flat.getFirst().schema(), pointer);
        }
        ObjectNode all = NODES.objectNode();
        for (Part part : flat) {
            if (part.schema().isBoolean()) {
                return new Part(NODES.booleanNode(false), pointer);
            }
            for (String keyword : part.constraints()) {
                add(all, keyword, part);
            }
        }
        requireClosed();
        if (all.has("items") || all.has("prefixItems")) {
            requireTogether("items", "prefixItems");
        }
        return new Part(all, pointer);
    }

    private void add(ObjectNode all, String keyword, Part part) {
        JsonNode value = part.get(keyword);
        JsonNode known = all.get(keyword);
        if (known == null) {
            all.set(keyword, value.deepCopy());
        } else if (!known.equals(value)) {
            switch (keyword) {
                case "properties" ->
                    value.properties().forEach(entry -> {
                        ObjectNode properties = (ObjectNode) known;
                        JsonNode other = properties.get(entry.getKey());
                        properties.set(
                                entry.getKey(),
                                other == null || other.equals(entry.getValue())
                                        ? entry.getValue()
                                        : NODES.objectNode()
                                                .set(
                                                        "allOf",
                                                        NODES.arrayNode()
                                                                .add(other)
                                                                .add(entry.getValue())));
                    });
                case "required" -> {
                    Set<JsonNode> names = new LinkedHashSet<>();
                    known.forEach(names::add);
                    value.forEach(names::add);
                    all.set("required", NODES.arrayNode().addAll(names));
                }
                case "type" -> all.set("type", types(known, value));
                case "minimum", "exclusiveMinimum", "minItems", "minLength" ->
                    all.set(keyword, larger(known, value, part, keyword));
                case "maximum", "exclusiveMaximum", "maxItems", "maxLength" -> {
                    if (larger(known, value, part, keyword) == known) {
                        all.set(keyword, value);
                    }
                }
                case "additionalProperties" -> all.put(keyword, false);
                default -> throw part.error(keyword, "two schemas that must both hold differ in " + keyword);
            }
        }
    }

    private static JsonNode larger(JsonNode a, JsonNode b, Part part, String keyword) {
        if (!a.isNumber() || !b.isNumber()) {
            throw part.error(keyword, "expected a number");
        }
        return a.decimalValue().compareTo(b.decimalValue()) >= 0 ? a : b;
    }

    private static ArrayNode types(JsonNode a, JsonNode b) {
        Set<String> first = typeSet(a);
        Set<String> second = typeSet(b);
        ArrayNode both = NODES.arrayNode();
        for (String type : first) {
            if (second.contains(type) || type.equals("integer") && second.contains("number")) {
                both.add(type);
            } else if (type.equals("number") && second.contains("integer")) {
                both.add("integer");
            }
        }
        return both;
    }

    private static Set<String> typeSet(JsonNode type) {
        Set<String> types = new LinkedHashSet<>();
        if (type.isArray()) {
            type.forEach(each -> types.add(each.asText()));
        } else {
            types.add(type.asText());
        }
        return types;
    }

    /**
     * A part's {@code additionalProperties} speaks of the properties that this part does not name, so it can be merged only if the
     * other parts name no others. Where two parts allow some, the merged schema allows none, which satisfies both.
     */
    private void requireClosed() {
        for (Part part : flat) {
            JsonNode additional = part.get("additionalProperties");
            if (additional == null || additional.isBoolean() && additional.booleanValue()) {
                continue;
            }
            Set<String> own =
                    part.has("properties") ? Set.copyOf(SchemaDocument.names(part.get("properties"))) : Set.of();
            for (Part other : flat) {
                if (other != part
                        && other.has("properties")
                        && !own.containsAll(SchemaDocument.names(other.get("properties")))) {
                    throw part.error(
                            "additionalProperties",
                            "another schema that must hold as well (" + other.pointer()
                                    + ") names properties that this one does not: name them here");
                }
            }
        }
    }

    private void requireTogether(String first, String second) {
        if (flat.stream().filter(part -> part.has(first) || part.has(second)).count() > 1) {
            throw flat.getLast().error("two schemas that must both hold speak of " + first + " and " + second);
        }
    }
}
