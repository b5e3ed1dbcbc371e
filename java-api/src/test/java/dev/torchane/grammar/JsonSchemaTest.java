package dev.torchane.grammar;

import static dev.torchane.grammar.Texts.begins;
import static dev.torchane.grammar.Texts.matches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonSchemaTest {

    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final String PERSON = """
            {"title": "Person", "type": "object", "required": ["name", "age"], "additionalProperties": false,
             "properties": {
               "name": {"type": "string", "minLength": 1, "maxLength": 5},
               "nick": {"type": ["string", "null"]},
               "age": {"type": "integer", "minimum": 0, "maximum": 130},
               "mail": {"type": "string", "pattern": "^[a-z]+@[a-z]+\\\\.(com|org)$"},
               "tags": {"type": "array", "items": {"enum": ["a", "b\\n", "ü"]}, "maxItems": 3},
               "id": {"type": "string", "format": "uuid"}}}
            """;

    private static final String TREE = """
            {"$ref": "#/$defs/node",
             "$defs": {"node": {"type": "object", "required": ["value"], "additionalProperties": false, "properties": {
                "value": {"type": "number", "minimum": -3, "exclusiveMaximum": 12},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1}}}}}
            """;

    @ParameterizedTest
    @ValueSource(
            strings = {
                PERSON,
                TREE,
                "{\"type\": \"array\", \"prefixItems\": [{\"const\": 1}, {\"type\": \"boolean\"}], \"items\": {\"type\": \"null\"}, \"maxItems\": 4}",
                "{\"type\": \"array\", \"prefixItems\": [{\"type\": \"string\"}, {\"type\": \"null\"}, {\"type\": \"null\"}], \"minItems\": 2}",
                "{\"type\": \"array\", \"prefixItems\": [{\"type\": \"null\"}, {\"type\": \"null\"}], \"items\": false, \"maxItems\": 1}",
                "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 3, \"items\": {\"type\": \"integer\", \"exclusiveMinimum\": -12, \"maximum\": 7}}",
                "{\"anyOf\": [{\"type\": \"string\", \"format\": \"date\"}, {\"type\": \"string\", \"format\": \"date-time\"}, {\"type\": \"string\", \"format\": \"time\"}, {\"type\": \"string\", \"format\": \"ipv4\"}]}",
                "{\"oneOf\": [{\"type\": \"object\", \"required\": [\"k\"], \"properties\": {\"k\": {\"const\": \"a\"}, \"x\": {\"type\": \"integer\"}}}, {\"type\": \"object\", \"required\": [\"k\"], \"properties\": {\"k\": {\"const\": \"b\"}, \"y\": {\"type\": \"null\"}}}, {\"type\": \"null\"}]}",
                "{\"allOf\": [{\"$ref\": \"#/$defs/a\"}, {\"properties\": {\"y\": {\"type\": \"boolean\"}, \"x\": {\"maximum\": 5}}, \"required\": [\"y\"]}], \"$defs\": {\"a\": {\"type\": \"object\", \"properties\": {\"x\": {\"type\": \"integer\", \"minimum\": 3}}, \"required\": [\"x\"]}}}",
                "{\"type\": \"object\", \"properties\": {\"ab\": {\"type\": \"null\"}, \"a\\\"\": {\"type\": \"null\"}}, \"required\": [\"zz\"], \"additionalProperties\": {\"type\": \"boolean\"}}",
                "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"integer\", \"minimum\": 95, \"maximum\": 1234}}",
                "{\"type\": \"number\", \"exclusiveMinimum\": 0, \"maximum\": 1}",
                "{\"type\": \"number\", \"exclusiveMinimum\": -20, \"exclusiveMaximum\": -1}",
                "{\"type\": \"number\", \"minimum\": 0}",
                "{\"type\": \"number\", \"maximum\": -7}",
                "{\"type\": [\"number\", \"integer\"], \"minimum\": -1, \"maximum\": 0}",
                "{\"type\": \"string\", \"pattern\": \"^[\\\\\\\\\\\"]x{2,3}[^a-z]$\"}",
                "{\"type\": \"string\", \"pattern\": \"^\\\\S{1,4}$\"}",
                "{\"type\": \"object\", \"anyOf\": [{\"required\": [\"a\"]}, {\"required\": [\"b\"]}], \"properties\": {\"a\": {\"type\": \"null\"}, \"b\": {\"type\": \"null\"}}}",
                "{\"enum\": [1, \"a\\\"b\", null, {\"x\": [1.5, true]}, \"\\u0001\"]}",
                "{\"type\": \"string\", \"enum\": [1, \"one\", \"once\"]}",
                "{\"type\": \"object\"}",
                "{}",
                "true"
            })
    void whatever_the_grammar_writes_is_valid(String schema) throws Exception {
        Grammar grammar = Grammar.jsonSchema(schema);
        SchemaValidator validator = new SchemaValidator(STRICT.readTree(schema));
        Random random = new Random(schema.hashCode());
        int finished = 0;
        for (int i = 0; i < 150; i++) {
            String text = Texts.walk(grammar, random, 0.3, 3000);
            if (text != null) {
                finished++;
                assertTrue(validator.valid(STRICT.readTree(text)), text);
            }
        }
        assertTrue(finished > 20, "only " + finished + " walks came to an end");
    }

    @Test
    void valid_documents_in_the_order_of_the_schema_are_allowed() {
        Grammar person = Grammar.jsonSchema(PERSON);
        assertTrue(matches(person, "{\"name\":\"Ana\",\"age\":130}"));
        assertTrue(matches(
                person, "{\"name\": \"\\u00fc😀\", \"nick\": null, \"age\": 0, \"mail\": \"a@b.org\", \"tags\": []}"));
        assertTrue(matches(
                person, "{\n  \"name\": \"Ana\",\n  \"age\": 7,\n  \"tags\": [\n    \"ü\",\n    \"b\\n\"\n  ]\n}"));
        assertFalse(begins(person, "{\"age\""), "required before it");
        assertFalse(begins(person, "{\"name\":\"\""), "at least one character");
        assertFalse(begins(person, "{\"name\":\"abcdef"));
        assertFalse(begins(person, "{\"name\":\"a\",\"age\":131"));
        assertFalse(begins(person, "{\"name\":\"a\",\"age\":07"));
        assertFalse(begins(person, "{\"name\":\"a\",\"age\":1}}"));
        assertFalse(begins(person, "{\"name\":\"a\",\"age\":1, \"mail\":\"a@b.net"));
        assertTrue(
                matches(Grammar.jsonSchema(TREE), "{\"value\":-3,\"children\":[{\"value\":11.99},{\"value\":0.5}]}"));
        assertFalse(begins(Grammar.jsonSchema(TREE), "{\"value\":12"));
        Grammar leap = Grammar.jsonSchema("{\"type\":\"string\",\"format\":\"date\"}");
        assertTrue(matches(leap, "\"2024-02-29\""));
        assertFalse(begins(leap, "\"2023-02-29"));
        assertFalse(begins(leap, "\"1900-02-29"));
    }

    @Test
    void integers_have_exactly_their_bounds() {
        Random random = new Random(2);
        for (int i = 0; i < 60; i++) {
            int scale = new int[] {20, 300, 5000}[i % 3];
            int low = random.nextInt(2 * scale) - scale;
            int high = low + random.nextInt(scale);
            Grammar grammar =
                    Grammar.jsonSchema("{\"type\":\"integer\",\"minimum\":" + low + ",\"maximum\":" + high + "}");
            for (int n = low - 30; n <= high + 30; n++) {
                assertEquals(
                        n >= low && n <= high, matches(grammar, Integer.toString(n)), n + " in " + low + ".." + high);
            }
            assertFalse(begins(grammar, "00"));
        }
    }

    @Test
    void a_pattern_without_anchors_may_match_anywhere() {
        Grammar grammar = Grammar.jsonSchema("{\"type\":\"string\",\"pattern\":\"x{2}[\\n\\\"]|^y\"}");
        assertTrue(matches(grammar, "\"ab xx\\n ü\""));
        assertTrue(matches(grammar, "\"xx\\\"\""));
        assertTrue(matches(grammar, "\"yes\""));
        assertFalse(matches(grammar, "\"by xx\""));
        assertFalse(matches(grammar, "\"a\""));
    }

    @Test
    void any_json_is_what_jackson_reads() throws Exception {
        Grammar json = Grammar.json();
        for (String text : new String[] {
            "null",
            "-0.5E+10",
            "\"\\ud83d\\ude00\\/\"",
            "[]",
            "{}",
            "[[1, 2],\n\t[\"a\"]]",
            "{\"a\": {\"b\":[true,false]}}"
        }) {
            assertTrue(matches(json, text), text);
        }
        for (String text :
                new String[] {"+1", "01", ".5", "'", "\"\t", "[,", "{a", "nul1", "\"\\ud83dx", "  1", "[1,]", "[ ]"}) {
            assertFalse(begins(json, text), text);
        }
        Random random = new Random(4);
        for (int i = 0; i < 300; i++) {
            String text = Texts.walk(json, random, 0.3, 3000);
            if (text != null) {
                STRICT.readTree(text);
            }
        }
        int depth = 1000;
        assertTrue(matches(json, "[".repeat(depth) + "]".repeat(depth)));
    }

    @Test
    void other_properties_never_repeat_a_named_one() {
        Grammar grammar = Grammar.jsonSchema(
                "{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"ab\":{\"const\":2}},\"additionalProperties\":{\"type\":\"null\"}}");
        assertTrue(matches(grammar, "{\"a\":1,\"ab\":2,\"abc\":null,\"\":null,\"b\":null}"));
        assertFalse(begins(grammar, "{\"a\":n"));
        assertFalse(begins(grammar, "{\"x\":null,\"ab\""));
        assertFalse(begins(grammar, "{\"\\u0061\""), "not in disguise either");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "#/multipleOf | {\"type\":\"integer\",\"multipleOf\":2}",
                "#/properties/a~1b/not | {\"properties\":{\"a/b\":{\"not\":{}}}}",
                "#/$defs/x/uniqueItems | {\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"type\":\"array\",\"uniqueItems\":true}}}",
                "#/type | {\"type\":\"text\"}",
                "#/$ref | {\"$ref\":\"#/nowhere\"}",
                "#/$ref | {\"$ref\":\"other.json\"}",
                "#/format | {\"type\":\"string\",\"format\":\"email\"}",
                "#/pattern | {\"type\":\"string\",\"pattern\":\"a\",\"maxLength\":3}",
                "#/items | {\"type\":\"array\",\"items\":[{}]}",
                "#/oneOf | {\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}",
                "#/maximum | {\"type\":\"number\",\"maximum\":0.5}",
                "#/minItems | {\"type\":\"array\",\"minItems\":-1}",
                "#/minLength | {\"enum\":[\"a\"],\"minLength\":1}",
                "#/items | {\"type\":\"array\",\"items\":3}",
                "# | {\"type\":\"integer\",\"minimum\":3,\"maximum\":2}",
                "# | {\"type\":\"object\",\"required\":[\"x\"],\"additionalProperties\":false}",
                "# | {\"$ref\":\"#\"}",
                "#/allOf/0/$ref | {\"allOf\":[{\"$ref\":\"#\"},{\"type\":\"object\"}]}",
                "#/allOf/0/additionalProperties | {\"allOf\":[{\"additionalProperties\":false},{\"properties\":{\"a\":{}}}]}",
                "#/pattern, index 2 | {\"type\":\"string\",\"pattern\":\"^a(?=b)\"}",
                "line 1, column 2 | {",
                "# | 3",
                "# | false"
            })
    void what_cannot_be_honoured_is_refused_by_its_pointer(String pointer, String schema) {
        GrammarException fault = assertThrows(GrammarException.class, () -> Grammar.jsonSchema(schema));
        assertEquals(pointer, fault.position(), fault.getMessage());
    }
}
