package dev.torchane.grammar;

import static dev.torchane.grammar.JsonText.call;
import static dev.torchane.grammar.Node.sequence;
import static dev.torchane.grammar.Node.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.grammar.SchemaDocument.Part;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns a JSON schema into rules, see {@link Grammar#jsonSchema}. Every schema within the document is a rule named by its JSON
 * pointer, so references are calls, recursive ones too.
 */
final class SchemaCompiler {

    private static final int MAX_RULES = 50_000;
    private static final int MAX_NAME = 200;
    private static final Set<String> TYPES =
            Set.of("null", "boolean", "string", "number", "integer", "object", "array");
    private static final Map<String, List<String>> TYPE_OF_KEYWORDS = new LinkedHashMap<>();

    static {
        TYPE_OF_KEYWORDS.put("object", List.of("properties", "required", "additionalProperties"));
        TYPE_OF_KEYWORDS.put("array", List.of("items", "prefixItems", "minItems", "maxItems"));
        TYPE_OF_KEYWORDS.put("string", List.of("minLength", "maxLength", "pattern", "format"));
        TYPE_OF_KEYWORDS.put("number", List.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"));
    }

    private final SchemaDocument document;
    private final Map<String, Node> rules = new LinkedHashMap<>();
    private final Deque<Part> open = new ArrayDeque<>();

    SchemaCompiler(String schema) {
        document = new SchemaDocument(schema);
    }

    Rules compile() {
        JsonText.addTo(rules);
        Part root = document.root();
        rule(root);
        while (!open.isEmpty()) {
            Part part = open.pop();
            rules.put(part.pointer(), node(part));
        }
        return new Rules(root.pointer(), rules, name -> name.replaceAll("~[a-z].*", ""));
    }

    /** A call of the rule for a schema, which is compiled when its turn comes. */
    private Node rule(Part part) {
        if (rules.putIfAbsent(part.pointer(), Node.NEVER) == null) {
            open.add(part);
            limitRules(part);
        }
        return call(part.pointer());
    }

    private Node rule(String name, Node body, Part part) {
        rules.put(name, body);
        limitRules(part);
        return call(name);
    }

    private void limitRules(Part part) {
        if (rules.size() > MAX_RULES) {
            throw part.error("the schema unfolds into more than " + MAX_RULES + " rules: simplify its allOf");
        }
    }

    private Node node(Part part) {
        List<String> constraints = part.constraints();
        if (constraints.isEmpty()) {
            return call(JsonText.VALUE);
        }
        if (part.schema().isBoolean()) {
            return Node.NEVER;
        }
        if (part.has("$ref") && constraints.size() == 1) {
            return rule(document.resolve(part));
        }
        if (part.has("allOf") && constraints.size() == 1 && part.listSize("allOf") == 1) {
            return rule(part.at("allOf", 0));
        }
        if (part.has("$ref") || part.has("allOf")) {
            return rule(SchemaMerge.merge(document, List.of(part), part.pointer() + "~all"));
        }
        if (part.has("anyOf")) {
            return new Node.Either(
                    branches(part, "anyOf").stream().map(this::rule).toList());
        }
        if (part.has("oneOf")) {
            List<Part> branches = branches(part, "oneOf");
            SchemaOverlap.refuse(document, part, branches);
            return new Node.Either(branches.stream().map(this::rule).toList());
        }
        if (part.has("enum") || part.has("const")) {
            return values(part, constraints);
        }
        List<Node> options = new ArrayList<>();
        for (String type : types(part)) {
            options.add(typed(part, type));
        }
        return new Node.Either(options);
    }

    /** The branches, each joined with what stands beside them. */
    private List<Part> branches(Part part, String keyword) {
        int size = part.listSize(keyword);
        Part rest = part.without(keyword);
        boolean alone = rest.constraints().isEmpty();
        List<Part> branches = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Part branch = part.at(keyword, i);
            branches.add(
                    alone ? branch : SchemaMerge.merge(document, List.of(rest, branch), branch.pointer() + "~all"));
        }
        return branches;
    }

    private Node values(Part part, List<String> constraints) {
        for (String keyword : constraints) {
            if (!Set.of("enum", "const", "type").contains(keyword)) {
                throw part.error(
                        keyword,
                        keyword + " beside enum or const cannot be honoured: leave out the values it excludes");
            }
        }
        Set<String> types = part.has("type") ? types(part) : TYPES;
        List<String> texts = new ArrayList<>();
        for (JsonNode value : SchemaOverlap.values(part)) {
            if (types.stream().anyMatch(type -> SchemaOverlap.isOfType(value, type))) {
                String text = value.isTextual() ? JsonText.quoted(value.textValue()) : value.toString();
                Unicode.requireWhole(text, part.pointer());
                texts.add(text);
            }
        }
        return new Node.Strings(texts);
    }

    /** The types a schema allows, as it says or as its keywords imply. */
    private static Set<String> types(Part part) {
        Set<String> types = new LinkedHashSet<>();
        JsonNode type = part.get("type");
        if (type == null) {
            TYPE_OF_KEYWORDS.forEach((implied, keywords) -> {
                if (keywords.stream().anyMatch(part::has)) {
                    types.add(implied);
                }
            });
        } else if (type.isTextual()) {
            types.add(type.textValue());
        } else {
            type.forEach(each -> types.add(each.textValue()));
        }
        for (String each : types) {
            if (!TYPES.contains(each)) {
                throw part.error("type", "there is no type " + each);
            }
        }
        if (types.contains("number")) {
            types.remove("integer");
        }
        return types;
    }

    private Node typed(Part part, String type) {
        return switch (type) {
            case "null" -> text("null");
            case "boolean" -> new Node.Strings(List.of("true", "false"));
            case "string" -> SchemaStrings.string(part);
            case "number" -> SchemaNumbers.number(part);
            case "integer" -> SchemaNumbers.integer(part);
            case "array" -> array(part);
            default -> object(part);
        };
    }

    private Node array(Part part) {
        int min = part.count("minItems", 0);
        int max = part.count("maxItems", Node.UNBOUNDED);
        int prefix = part.has("prefixItems") ? part.listSize("prefixItems") : 0;
        JsonNode items = part.get("items");
        if (items != null && items.isArray()) {
            throw part.error("items", "a list of schemas is called prefixItems");
        }
        Node more = items != null
                ? rule(part.at("items"))
                : prefix == 0 || min > prefix ? call(JsonText.VALUE) : Node.NEVER;
        if (max < min) {
            return Node.NEVER;
        }
        if (max == 0) {
            return text("[]");
        }
        Node filled;
        if (prefix == 0) {
            filled = JsonText.list(more, Math.max(1, min), max);
        } else {
            int moreMax = max == Node.UNBOUNDED ? max : Math.max(0, max - prefix);
            Node rest = new Node.Repeat(sequence(JsonText.comma(), more), Math.max(0, min - prefix), moreMax);
            for (int i = Math.min(prefix, max) - 1; i > 0; i--) {
                Node next = sequence(JsonText.comma(), rule(part.at("prefixItems", i)), rest);
                rest = rule(part.pointer() + "~item" + i, i >= min ? Node.optional(next) : next, part);
            }
            filled = sequence(rule(part.at("prefixItems", 0)), rest);
        }
        Node full = JsonText.enclosed("[", filled, "]");
        return min == 0 ? Node.either(text("[]"), full) : full;
    }

    /** A property: its name, what its value must be, whether it must be there. */
    private record Property(String name, Node value, boolean required) {}

    private Node object(Part part) {
        Set<String> required = new LinkedHashSet<>();
        if (part.has("required")) {
            part.get("required").forEach(name -> required.add(name.textValue()));
        }
        JsonNode additional = part.get("additionalProperties");
        boolean silent = additional == null;
        Node others = silent ? call(JsonText.VALUE) : rule(part.at("additionalProperties"));
        List<Property> properties = new ArrayList<>();
        if (part.has("properties")) {
            for (String name : SchemaDocument.names(part.get("properties"))) {
                Unicode.requireWhole(name, part.pointer() + "/properties");
                properties.add(new Property(name, rule(part.at("properties", name)), required.remove(name)));
            }
        }
        for (String name : required) {
            Unicode.requireWhole(name, part.pointer() + "/required");
            properties.add(new Property(name, others, true));
        }
        boolean open = silent ? properties.isEmpty() : !additional.isBoolean() || additional.booleanValue();
        return members(part, properties, open ? other(part, properties, others) : Node.NEVER);
    }

    /** A member whose name is none of the properties'. */
    private static Node other(Part part, List<Property> properties, Node value) {
        List<String> names = properties.stream().map(Property::name).toList();
        for (String name : names) {
            if (name.length() > MAX_NAME) {
                throw part.error(
                        "additionalProperties",
                        "beside other properties a name has at most " + MAX_NAME + " characters: "
                                + name.substring(0, MAX_NAME) + "…");
            }
        }
        return sequence(names.isEmpty() ? call(JsonText.STRING) : JsonText.stringBut(names), JsonText.colon(), value);
    }

    /**
     * The properties in their order, then others. Two rules for each place: what may follow when a member was written before it,
     * and when none was.
     */
    private Node members(Part part, List<Property> properties, Node other) {
        Node otherMember = rule(part.pointer() + "~other", other, part);
        Node after = rule(part.pointer() + "~others", Node.any(sequence(JsonText.comma(), otherMember)), part);
        Node first = sequence(otherMember, after);
        boolean mayBeEmpty = true;
        for (int i = properties.size() - 1; i >= 0; i--) {
            Property property = properties.get(i);
            Node member = rule(
                    part.pointer() + "~member" + i,
                    sequence(text(JsonText.quoted(property.name)), JsonText.colon(), property.value),
                    part);
            Node written = sequence(JsonText.comma(), member, after);
            Node begun = sequence(member, after);
            mayBeEmpty &= !property.required;
            first = rule(part.pointer() + "~first" + i, property.required ? begun : Node.either(begun, first), part);
            after = rule(
                    part.pointer() + "~after" + i, property.required ? written : Node.either(written, after), part);
        }
        Node filled = JsonText.enclosed("{", first, "}");
        return mayBeEmpty ? Node.either(text("{}"), filled) : filled;
    }
}
