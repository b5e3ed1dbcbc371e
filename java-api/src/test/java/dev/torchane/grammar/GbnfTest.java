package dev.torchane.grammar;

import static dev.torchane.grammar.Texts.begins;
import static dev.torchane.grammar.Texts.matches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GbnfTest {

    private static final String ARITHMETIC = """
            # sums of products
            root   ::= (expr "=" ws term "\\n")+
            expr   ::= term ([-+*/] term)*
            term   ::= ident | num | "(" ws expr ")" ws
            ident  ::= [a-z] [a-z0-9_]* ws   # a name
            num    ::= [0-9]+ ws
            ws     ::= [ \\t\\n]*
            """;

    private static final String JSON = """
            root   ::= object
            value  ::= object | array | string | number | ("true" | "false" | "null") ws
            object ::=
              "{" ws (
                string ":" ws value
                ("," ws string ":" ws value)*
              )? "}" ws
            array  ::= "[" ws ( value ("," ws value)* )? "]" ws
            string ::= "\\"" ( [^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\\"" ws
            number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
            ws     ::= | " " | "\\n" [ \\t]{0,20}
            """;

    private static final String CHESS = """
            root ::= "1. " move " " move "\\n" ([1-9] [0-9]? ". " move " " move "\\n")+
            move ::= (pawn | nonpawn | castle) [+#]?
            nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
            pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
            castle ::= "O-O" "-O"?
            """;

    @Test
    void arithmetic_is_read_as_its_rules_say() {
        Grammar grammar = Grammar.gbnf(ARITHMETIC);
        assertTrue(matches(grammar, "x1 +2*(y -3) = 7\n"));
        assertTrue(matches(grammar, "1=1\na=b\n"));
        assertFalse(matches(grammar, "1=1"));
        assertTrue(begins(grammar, "1=1"));
        assertFalse(begins(grammar, "1=="));
        assertFalse(begins(grammar, ")"));
    }

    @Test
    void json_in_the_style_of_llama_cpp() {
        Grammar grammar = Grammar.gbnf(JSON);
        assertTrue(matches(grammar, "{\"a\": [1, -2.5e3, \"é\\u00e9\\n\", {}], \"b\":null}"));
        assertFalse(begins(grammar, "[1]"), "the root is an object");
        assertFalse(begins(grammar, "{\"a\": 01"));
        assertFalse(begins(grammar, "{\"a\":\"\n"));
    }

    @Test
    void chess_games() {
        Grammar grammar = Grammar.gbnf(CHESS);
        assertTrue(matches(grammar, "1. e4 e5\n2. Nf3 Nc6\n3. O-O exd8=Q+\n"));
        assertFalse(begins(grammar, "1. e9"));
    }

    @Test
    void characters_are_code_points_and_partial_ones_are_no_dead_end() {
        Grammar grammar = Grammar.gbnf("root ::= [ぁ-ゟ]{2} \"\\U0001F600\" \"\\u00e9\\x41\" [^a] .");
        assertTrue(matches(grammar, "ひら😀éAb\n"));
        assertTrue(matches(grammar, "ひら😀éA𐍈a"));
        assertFalse(begins(grammar, "カ"));
        byte[] bytes = Texts.utf8("ひ");
        assertFalse(grammar.start().accept(bytes[0], bytes[1]).isDead());
        assertTrue(grammar.start().accept(bytes[0], (byte) 'a').isDead());
    }

    @Test
    void no_class_allows_what_is_not_utf_8() {
        GrammarState start = Grammar.gbnf("root ::= .*").start();
        assertTrue(start.accept((byte) 0xC0).isDead(), "overlong");
        assertTrue(start.accept((byte) 0xED, (byte) 0xA0).isDead(), "surrogate");
        assertTrue(start.accept((byte) 0xF4, (byte) 0x90).isDead(), "beyond U+10FFFF");
        assertTrue(start.accept((byte) 0x80).isDead(), "a continuation alone");
        assertFalse(start.accept((byte) 0xF4, (byte) 0x8F, (byte) 0xBF).isComplete());
        assertTrue(
                start.accept((byte) 0xF4, (byte) 0x8F, (byte) 0xBF, (byte) 0xBF).isComplete());
    }

    @Test
    void repetitions_have_both_limits() {
        Grammar grammar = Grammar.gbnf("root ::= \"a\"{2} \"b\"{1,} \"c\"{,2} \"ab\"{0,1} (\"d\" \"e\"?){2,3}");
        assertTrue(matches(grammar, "aabbbbdd"));
        assertTrue(matches(grammar, "aabccabdedde"));
        assertFalse(begins(grammar, "aabccc"));
        assertFalse(begins(grammar, "aaa"));
        assertFalse(matches(grammar, "aabd"));
        assertFalse(begins(grammar, "aabdddd"));
    }

    @Test
    void a_repetition_behind_a_rule_counts_from_nothing() {
        Grammar grammar = Grammar.gbnf("root ::= \"[\" item (\",\" item){1,2} \"]\"\nitem ::= \"a\" [0-9]{2,3}");
        assertTrue(matches(grammar, "[a12,a123]"));
        assertTrue(matches(grammar, "[a12,a12,a123]"));
        assertFalse(begins(grammar, "[a12]"));
        assertFalse(begins(grammar, "[a12,a12,a12,"));
        assertFalse(begins(grammar, "[a1,"));
    }

    @Test
    void huge_repetitions_count_lazily() {
        Grammar grammar = Grammar.gbnf("root ::= (\"a\"{1,100000} \"b\"){3,100000}");
        assertTrue(matches(grammar, ("a".repeat(1000) + "b").repeat(5)));
        assertFalse(matches(grammar, "abab"));
        assertFault("line 1, column 13: a repetition counts to 1000000 at most", "root ::= .{1,1000001}", 1);
    }

    @Test
    void repetitions_of_what_may_be_empty_end() {
        Grammar grammar = Grammar.gbnf("root ::= ((\"a\"? \"b\"?){2,100000})* (\"c\"*)* ((\"d\"*){3,5}){2}");
        assertTrue(matches(grammar, ""));
        assertTrue(matches(grammar, "babbaccdddddddddddddddddddddddd"));
        assertFalse(begins(grammar, "ca"));
        Grammar two = Grammar.gbnf("root ::= ((\"a\"? \"b\"?){0,2} \"c\"){1,2}");
        assertTrue(matches(two, "ababcbac"));
        assertFalse(begins(two, "ababa"));
        assertTrue(matches(two, "bbcc"));
        assertFalse(begins(two, "bbb"));
    }

    @Test
    void recursion_is_a_thousand_deep_and_more() {
        Grammar grammar = Grammar.gbnf("root ::= \"[\" root? \"]\" tail?\ntail ::= \"x\" tail \"y\"?");
        int depth = 20_000;
        assertTrue(matches(grammar, "[".repeat(depth) + "]".repeat(depth)));
        assertFalse(begins(grammar, "[".repeat(depth) + "]".repeat(depth + 1)));
        Grammar optional = Grammar.gbnf("root ::= \"x\" root? \"y\"?");
        assertTrue(matches(optional, "x".repeat(500) + "y".repeat(400)));
    }

    @Test
    void equal_states_are_the_same_object() {
        Grammar grammar = Grammar.gbnf("root ::= \"(\" root \")\" | [a-z]+");
        GrammarState one = grammar.start().accept(Texts.utf8("((ab"));
        assertSame(one, grammar.start().accept(Texts.utf8("((xyz")));
        assertFalse(one == grammar.start().accept(Texts.utf8("(ab")));
        assertSame(
                grammar.start().accept((byte) '?'),
                grammar.start().accept((byte) '(').accept((byte) '!'));
    }

    @Test
    void alternatives_that_can_never_end_are_no_trap() {
        Grammar grammar = Grammar.gbnf("root ::= \"a\" loop | \"b\" [] | \"c\"\nloop ::= \"x\" loop");
        assertFalse(begins(grammar, "a"));
        assertFalse(begins(grammar, "b"));
        assertTrue(matches(grammar, "c"));
    }

    @Test
    void a_line_that_begins_with_a_bar_continues_the_rule() {
        Grammar grammar =
                Grammar.gbnf("root ::= \"a\" # first\n  # a comment between\n  | \"b\"\r\n     | x\nx ::= |\n \"c\"\n");
        assertTrue(matches(grammar, "b"));
        assertTrue(matches(grammar, "c"));
        assertTrue(matches(grammar, ""));
    }

    @Test
    void faults_are_named_with_line_and_column() {
        assertFault("line 2, column 6: unknown rule nowhere", "root ::= a\na ::= nowhere", 1);
        assertFault("line 1, column 1: there is no rule root", "", 0);
        assertFault("line 1, column 10: there is nothing to repeat", "root ::= *", 0);
        assertFault("line 1, column 10: the text ends", "root ::= \"abc", 4);
        assertFault("line 1, column 10: unknown escape \\q", "root ::= \"\\q\"", 1);
        assertFault("line 1, column 6: expected ::=", "root = \"a\"", 0);
        assertFault("line 1, column 13: expected )", "root ::= (\"a\"", 1);
        assertFault("line 2, column 1: rule root is defined twice", "root ::= \"a\"\nroot ::= \"b\"", 0);
        assertFault(
                "line 1, column 1: left recursion: root → a → root", "root ::= \"x\"? a\na ::= root \"b\" | \"c\"", 0);
        assertFault("line 1, column 1: nothing matches", "root ::= \"a\" root", 0);
        assertFault("line 1, column 11: the range z-a is empty", "root ::= [z-a]", 0);
        assertFault("line 1, column 12: U+D800", "root ::= \"\\uD800\"", 1);
        assertFault("line 1, column 13: a repetition from 3 to 2", "root ::= \"a\"{3,2}", 0);
        assertFault("line 1, column 10: tokens cannot be named", "root ::= <think>", 0);
    }

    private static void assertFault(String beginning, String text, int slack) {
        GrammarException fault = assertThrows(GrammarException.class, () -> Grammar.gbnf(text));
        String problem = beginning.substring(beginning.indexOf(": "));
        assertTrue(fault.getMessage().contains(problem), fault.getMessage());
        String[] wanted = beginning.substring(0, beginning.indexOf(": ")).split("column ");
        String[] found = fault.position().split("column ");
        assertEquals(wanted[0], found[0], fault.getMessage());
        assertEquals(Integer.parseInt(wanted[1]), Integer.parseInt(found[1]), slack, fault.getMessage());
    }
}
