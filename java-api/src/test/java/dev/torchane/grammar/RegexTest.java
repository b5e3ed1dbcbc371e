package dev.torchane.grammar;

import static dev.torchane.grammar.Texts.begins;
import static dev.torchane.grammar.Texts.matches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegexTest {

    private static final List<String> LETTERS =
            List.of("a", "b", "c", "0", "7", " ", "\n", "_", "é", "ß", "中", "😀", "-", "]");

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(9); length > 0; length--) {
            text.append(LETTERS.get(random.nextInt(LETTERS.size())));
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a|b|",
                "(?:ab|a)(c|bcd)?[^a]*",
                "\\d{2,3}|\\w+\\s",
                "[^\\w]+",
                "[a-c0-7]*?\\D",
                "(a|ab)(c|bcd)(d*)",
                "(?<name>a+)+b",
                "((a?b?){2,3})*",
                ".*中.{1,2}",
                "[\\]\\-a]+",
                "[]a]+",
                "\\S*\\W\\S*",
                "^a.*b$|^c$",
                "(a*)*(b*)+c?",
                "[é-\\u4e2d]+\\x{1F600}?",
                "(a{0,2}b){2,}",
                "\\x61[^\\n]\\u00e9?.*"
            })
    void whole_texts_match_exactly_as_in_java(String expression) {
        Grammar grammar = Grammar.regex(expression);
        Pattern pattern = Pattern.compile(expression);
        Random random = new Random(5);
        for (int i = 0; i < 4000; i++) {
            String text = text(random);
            assertEquals(pattern.matcher(text).matches(), matches(grammar, text), text);
        }
    }

    @Test
    void random_expressions_match_exactly_as_in_java() {
        Random random = new Random(11);
        for (int i = 0; i < 600; i++) {
            String expression = expression(random, 3);
            Grammar grammar = Grammar.regex(expression);
            Pattern pattern = Pattern.compile(expression);
            for (int j = 0; j < 60; j++) {
                String text = text(random);
                assertEquals(pattern.matcher(text).matches(), matches(grammar, text), expression + " on " + text);
            }
            String walk = Texts.walk(grammar, random, 0.3, 200);
            assertTrue(walk == null || pattern.matcher(walk).matches(), expression + " wrote " + walk);
        }
    }

    private static String expression(Random random, int depth) {
        String[] leaves = {"a", "b", ".", "[ab]", "[^a]", "\\d", "\\W", "é", "中", "[0-9_]"};
        return switch (depth == 0 ? 0 : random.nextInt(6)) {
            case 0, 1 -> leaves[random.nextInt(leaves.length)];
            case 2 -> expression(random, depth - 1) + expression(random, depth - 1);
            case 3 -> "(?:" + expression(random, depth - 1) + "|" + expression(random, depth - 1) + ")";
            case 4 ->
                "(" + expression(random, depth - 1) + ")"
                        + List.of("*", "+", "?", "*?").get(random.nextInt(4));
            default ->
                "(" + expression(random, depth - 1) + "){" + random.nextInt(2) + "," + (1 + random.nextInt(3)) + "}";
        };
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "a(?=b) 1",
                "(a)\\1 3",
                "a*+ 2",
                "a** 2",
                "\\bword 0",
                "\\p{L} 0",
                "a^ 1",
                "a$b 1",
                "[a&&b] 2",
                "[a[b]] 2",
                "(a 2",
                "a) 1",
                "*a 0",
                "[b-a] 1",
                "a{2 3",
                "a{1,2000000} 4",
                "(?i)a 0",
                "\\ud800 6",
                "[a-\\d] 1",
                "(^a) 1",
                "a{,3} 2"
            })
    void what_lies_outside_the_subset_is_refused_by_its_place(String expression, int index) {
        GrammarException fault = assertThrows(GrammarException.class, () -> Grammar.regex(expression));
        assertEquals("index " + index, fault.position(), fault.getMessage());
    }

    @Test
    void a_choice_is_one_of_its_texts() {
        Grammar grammar = Grammar.choice(List.of("yes", "yesterday", "no", "ñandú"));
        assertTrue(matches(grammar, "yes"));
        assertTrue(matches(grammar, "yesterday"));
        assertTrue(matches(grammar, "ñandú"));
        assertFalse(matches(grammar, "yester"));
        assertFalse(begins(grammar, "nope"));
        assertThrows(GrammarException.class, () -> Grammar.choice(List.of()));
        assertThrows(GrammarException.class, () -> Grammar.choice(List.of("\ud800")));
    }

    @Test
    void too_many_readings_at_once_are_a_typed_error() {
        Grammar grammar = Grammar.gbnf("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"\"");
        assertThrows(GrammarException.class, () -> grammar.start().accept(Texts.utf8("a".repeat(30))));
    }
}
