package dev.torchane.grammar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.GenerateOptions;
import dev.torchane.Generation;
import dev.torchane.llm.FinishReason;
import dev.torchane.llm.Sampling;
import dev.torchane.testing.TinyTransformer;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A model that knows nothing of JSON, held to schemas: what ends with STOP is a valid document. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GrammarGenerationTest {

    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private CausalLM lm;

    @BeforeAll
    void open(@TempDir Path folder) {
        Path bundle = TinyTransformer.standard().withLadder(512, 128, 512).write(folder);
        lm = CausalLM.open(bundle, CausalLMOptions.builder().threads(1).build());
    }

    @AfterAll
    void close() {
        lm.close();
    }

    static String[] schemas() {
        String values =
                IntStream.range(0, 500).mapToObj(i -> "\"v" + i * 7919 + "é\"").collect(Collectors.joining(","));
        return new String[] {
            """
            {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["v"], "additionalProperties": false,
             "properties": {"v": {"type": "integer", "minimum": -5, "maximum": 5},
                            "c": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/node"}}}}}}
            """, "{\"type\": \"array\", \"maxItems\": 3, \"items\": {\"enum\": [" + values + "]}}", """
            {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "array", "maxItems": 2, "items":
             {"type": "array", "maxItems": 2, "items": {"type": ["number", "null"], "minimum": 0, "maximum": 1}}}}
            """, """
            {"type": "object", "required": ["ключ", "\\ud83d\\ude00"], "additionalProperties": false, "properties": {
             "ключ": {"type": "string", "minLength": 2, "maxLength": 6},
             "\\ud83d\\ude00": {"type": "string", "pattern": "^[а-я]{1,3}$"},
             "d": {"type": "string", "format": "date"}}}
            """
        };
    }

    @ParameterizedTest
    @MethodSource("schemas")
    void what_ends_with_stop_parses_and_is_valid(String schema) throws Exception {
        Grammar grammar = Grammar.jsonSchema(schema);
        SchemaValidator validator = new SchemaValidator(STRICT.readTree(schema));
        int whole = 0;
        for (int seed = 0; seed < 12; seed++) {
            Sampling sampling = Sampling.temperature(0.5 + seed % 4)
                    .withTopK(seed % 3 * 5)
                    .withTopP(seed % 2 == 0 ? 1 : 0.8)
                    .withXtc(seed % 5 / 8.0, 0.05)
                    .withRepetitionPenalty(1 + seed % 3 * 0.2)
                    .withSeed(seed);
            Generation generation = lm.generate(
                    new int[] {5 + seed},
                    GenerateOptions.defaults()
                            .withMaxNewTokens(250)
                            .withSampling(sampling)
                            .withGrammar(grammar));
            if (generation.reason() == FinishReason.STOP) {
                whole++;
                assertTrue(validator.valid(STRICT.readTree(generation.text())), generation.text());
            } else {
                assertEquals(FinishReason.LENGTH, generation.reason());
            }
        }
        assertTrue(whole >= 3, whole + " of 12 came to an end");
    }

    @Test
    void a_stop_string_or_a_limit_may_cut_it_and_the_one_that_comes_first_counts() {
        GenerateOptions number = GenerateOptions.defaults().withGrammar(Grammar.regex("-12345"));
        assertEquals("-12", lm.generate(new int[] {5}, number.withStop("34")).text());
        assertEquals(
                "-123",
                lm.generate(new int[] {5}, number.withStop("45").withMaxNewTokens(40))
                        .text());
        Generation cut = lm.generate(new int[] {5}, number.withStop("999").withMaxNewTokens(2));
        assertEquals(FinishReason.LENGTH, cut.reason());
        assertTrue("-12345".startsWith(cut.text()), cut.text());
        assertEquals(
                FinishReason.STOP,
                lm.generate(new int[] {5}, number.withStop("5")).reason());
    }
}
