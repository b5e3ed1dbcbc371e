package dev.torchane.grammar;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Texts that are nearly right: whatever comes in, a grammar or a {@link GrammarException} comes out. */
class ParserFuzzTest {

    private static void fuzz(Function<String, Grammar> parser, List<String> seeds, String letters, int runs) {
        Random random = new Random(17);
        int refused = 0;
        for (int i = 0; i < runs; i++) {
            StringBuilder text = new StringBuilder(seeds.get(random.nextInt(seeds.size())));
            for (int edits = 1 + random.nextInt(4); edits > 0 && !text.isEmpty(); edits--) {
                int at = random.nextInt(text.length());
                char letter = letters.charAt(random.nextInt(letters.length()));
                switch (random.nextInt(4)) {
                    case 0 -> text.deleteCharAt(at);
                    case 1 -> text.insert(at, letter);
                    case 2 -> text.setCharAt(at, letter);
                    default -> text.insert(at, text.substring(at, Math.min(text.length(), at + random.nextInt(12))));
                }
            }
            try {
                parser.apply(text.toString()).start().accept(Texts.utf8("{\"a"));
            } catch (GrammarException e) {
                refused++;
                assertTrue(!e.position().isEmpty() && e.getMessage().length() > 10);
            } catch (RuntimeException | StackOverflowError e) {
                throw new AssertionError("on: " + text, e);
            }
        }
        assertTrue(refused > runs / 20 && refused < runs, refused + " of " + runs + " refused");
    }

    @Test
    void gbnf() {
        fuzz(
                Grammar::gbnf,
                List.of(
                        "root ::= a | \"x\\n\\x41\" [^a-z\\]]{2,5}\n# c\na ::= (\"b\" root?)* .+\r\n",
                        "root ::= [\\u00e9-\\U0001F600] (\"a\" | b{3}){0,2}\nb ::= | \"q\""),
                "\"\\[]{}()|*+?.:=ab09-^,#\n \ud83d\u0000é<",
                2500);
    }

    @Test
    void expressions() {
        fuzz(
                Grammar::regex,
                List.of(
                        "^(?:a|[^\\d-]{2,5})*?\\u00e9$",
                        "(?<n>x+)\\w\\x{1F600}|[]a-c\\]]",
                        "\\ud83d\\ude00+[\\n]?.{3}"),
                "\\[]{}()|*+?.$^ab09-,<>:=&ux\ud83d\u0000é",
                2500);
    }

    @Test
    void schemas() {
        fuzz(
                Grammar::jsonSchema,
                List.of(
                        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":-1e3},\"b\":{\"$ref\":\"#/$defs/b\"}},"
                                + "\"required\":[\"a\"],\"additionalProperties\":true,\"$defs\":{\"b\":{\"enum\":[1,\"x\"]}}}",
                        "{\"allOf\":[{\"$ref\":\"#/$defs/b\"},{\"properties\":{\"x\":{\"maxLength\":3}}}],\"$defs\":{\"b\":{\"properties\":{}}}}",
                        "{\"oneOf\":[{\"type\":\"array\",\"prefixItems\":[{},true],\"maxItems\":9},{\"const\":5.0},{\"type\":\"string\",\"pattern\":\"^a\"}]}",
                        "{\"anyOf\":[{\"type\":\"number\",\"exclusiveMaximum\":1},{\"type\":\"null\"}],\"title\":\"\\ud83d\"}"),
                "\"\\[]{}:,0-1e9.abtrue#/$~ \u0000é",
                2500);
    }

    @Test
    void what_is_deep_or_huge_is_refused_and_not_overrun() {
        for (int depth : List.of(150, 20_000)) {
            refusedOrRead(() -> Grammar.gbnf("root ::= " + "(".repeat(depth) + "\"a\"" + ")".repeat(depth)));
            refusedOrRead(() -> Grammar.regex("(".repeat(depth) + "a" + ")".repeat(depth)));
            refusedOrRead(() -> Grammar.gbnf("root ::= \"a\"" + "*".repeat(depth)));
            refusedOrRead(() -> Grammar.jsonSchema("{\"items\":".repeat(depth) + "{}" + "}".repeat(depth)));
            refusedOrRead(() -> Grammar.jsonSchema("{\"anyOf\":[".repeat(depth) + "{}" + "]}".repeat(depth)));
            refusedOrRead(() -> Grammar.regex("a".repeat(depth) + "|b"));
        }
        refusedOrRead(() -> Grammar.jsonSchema("{\"type\":\"integer\",\"minimum\":1e999999999}"));
        refusedOrRead(() -> Grammar.jsonSchema("{\"type\":\"integer\",\"minimum\":-1e-999999999}"));
        refusedOrRead(() -> Grammar.jsonSchema("{\"type\":\"number\",\"exclusiveMaximum\":1e-999999999}"));
        refusedOrRead(() -> Grammar.jsonSchema("{\"type\":\"integer\",\"enum\":[1e999999999]}"));
    }

    private static void refusedOrRead(Runnable parse) {
        try {
            parse.run();
        } catch (GrammarException e) {
            assertTrue(e.getMessage().length() > 10);
        }
    }
}
