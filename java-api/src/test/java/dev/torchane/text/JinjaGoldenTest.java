package dev.torchane.text;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates and snippets give, character for character, what transformers' Jinja environment gives. */
class JinjaGoldenTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final LocalDateTime CLOCK = LocalDateTime.of(2026, 7, 4, 9, 5, 3);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "chatml-default-system.jinja",
                "header-ids.jinja",
                "thinking-chatml.jinja",
                "turns.jinja",
                "instruct-brackets.jinja",
                "macros.jinja",
                "tools-chatml.jinja",
                "tools-signatures.jinja"
            })
    void templates(String name) throws IOException {
        String source = resource(name);
        Stream<Executable> cases = StreamSupport.stream(
                        MAPPER.readTree(resource("templates_golden.json")).spliterator(), false)
                .filter(golden -> golden.path("template").asText().equals(name))
                .map(golden -> () -> {
                    Map<String, Object> variables = variables(golden.path("variables"));
                    variables.put("bos_token", "<s>");
                    variables.put("eos_token", "</s>");
                    check(golden.path("case").asText(), source, variables, golden);
                });
        assertAll(name, cases);
    }

    @ParameterizedTest
    @MethodSource
    void snippets(String source, JsonNode golden, Map<String, Object> variables) {
        check(source, source, variables, golden);
    }

    static Stream<org.junit.jupiter.params.provider.Arguments> snippets() throws IOException {
        JsonNode root = MAPPER.readTree(resource("snippets_golden.json"));
        Map<String, Object> variables = variables(root.path("variables"));
        return StreamSupport.stream(root.path("snippets").spliterator(), false)
                .map(s -> org.junit.jupiter.params.provider.Arguments.of(
                        s.path("source").asText(), s, variables));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
                "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
                "{{ 'a' * 99999999999 }}",
                "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                "{{ '%999999999d' % 1 }}",
                "{{ 9 ** 9 ** 9 }}"
            })
    void templatesThatUseUpTooMuchAreStopped(String source) {
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(30), () -> assertThrows(JinjaError.class, () -> render(source, Map.of())));
    }

    @Test
    void deepNestingIsAnErrorNotAnOverflow() {
        for (String source : List.of(
                "{{ " + "(".repeat(100_000) + "1" + ")".repeat(100_000) + " }}",
                "{{ " + "[".repeat(100_000) + " }}",
                "{% if 1 %}".repeat(10_000),
                "{{ " + "not ".repeat(100_000) + "1 }}",
                "{{ " + "-".repeat(100_000) + "1 }}",
                "{{ 1" + " + 1".repeat(100_000) + " }}",
                "{{ x" + ".y".repeat(100_000) + " }}")) {
            try {
                render(source, Map.of());
            } catch (JinjaError e) {
                assertTrue(e.getMessage().length() < 300, e.getMessage());
            }
        }
    }

    @Test
    void templatesSeeOnlyPlainValues() {
        assertThrows(IllegalArgumentException.class, () -> render("{{ x }}", Map.of("x", new Object())));
        Map<String, Object> mixed = new HashMap<>();
        mixed.put("x", List.of(1, 2L, 3.5f, true, Map.of("k", "v")));
        mixed.put("none", null);
        assertEquals("[1, 2, 3.5, True, {'k': 'v'}] None", render("{{ x }} {{ none }}", mixed));
    }

    private static void check(String label, String source, Map<String, Object> variables, JsonNode golden) {
        if (golden.has("error")) {
            assertThrows(JinjaError.class, () -> render(source, variables), () -> label + ": " + golden.path("error"));
        } else {
            assertEquals(golden.path("expected").asText(), render(source, variables), label);
        }
    }

    private static String render(String source, Map<String, Object> variables) {
        JinjaLimits limits = new JinjaLimits(Duration.ofSeconds(3));
        return JinjaRenderer.render(JinjaParser.parse(source), JinjaGlobals.of(() -> CLOCK), variables, limits);
    }

    private static Map<String, Object> variables(JsonNode node) {
        return new LinkedHashMap<>(MAPPER.convertValue(node, new TypeReference<Map<String, Object>>() {}));
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = JinjaGoldenTest.class.getResourceAsStream("templates/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
