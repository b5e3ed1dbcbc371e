package dev.torchane.grammar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.llm.LogitsStep;
import dev.torchane.llm.Sampler;
import dev.torchane.llm.Sampling;
import dev.torchane.llm.TokenHistory;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GrammarMasksTest {

    private static final String LETTERS = "ab01(){}[]\":, \\n\n-é中😀";

    /** All bytes, then random pieces of text cut anywhere, also within characters; special tokens at the end. */
    private static byte[][] randomTokens(Random random, int count) {
        byte[][] tokens = new byte[count][];
        int[] letters = LETTERS.codePoints().toArray();
        for (int id = 0; id < count; id++) {
            StringBuilder text = new StringBuilder();
            for (int length = 1 + random.nextInt(6); length > 0; length--) {
                text.appendCodePoint(letters[random.nextInt(letters.length)]);
            }
            byte[] bytes = Texts.utf8(text.toString());
            int from = random.nextInt(bytes.length);
            int to = from + 1 + random.nextInt(bytes.length - from);
            tokens[id] = id < 256 ? new byte[] {(byte) id} : java.util.Arrays.copyOfRange(bytes, from, to);
        }
        tokens[count - 3] = new byte[0];
        return tokens;
    }

    private static long[] bruteForce(GrammarState state, byte[][] tokens, Set<Integer> special, int eos) {
        long[] mask = new long[(tokens.length + 63) / 64];
        for (int id = 0; id < tokens.length; id++) {
            boolean allowed = id == eos
                    ? state.isComplete()
                    : !special.contains(id)
                            && tokens[id].length > 0
                            && !state.accept(tokens[id]).isDead();
            if (allowed) {
                mask[id / 64] |= 1L << (id % 64);
            }
        }
        return mask;
    }

    @Test
    void masks_equal_a_check_of_every_token() {
        Random random = new Random(3);
        byte[][] tokens = randomTokens(random, 3000);
        int eos = tokens.length - 1;
        Set<Integer> special = Set.of(eos - 1);
        Vocabulary vocabulary = Vocabulary.of(tokens, special, Set.of(eos));
        List<Grammar> grammars = List.of(
                Grammar.gbnf("root ::= \"(\" root* \")\" | \"[\" [ab]{1,3} \"]\""),
                Grammar.gbnf("root ::= (\"é\" | \"中\"{2,4} | [^a-z\\x00-\\x40])* \"0\"?"),
                Grammar.regex("\\{(\"[^\"\\\\]{0,5}\":\\s?\\d+,?)+\\}"),
                Grammar.choice(List.of("ab01", "ab", "中中", "中é")),
                Grammar.gbnf("root ::= (\"[\" ([ab01]{2,60} \",\"){0,40} \"]\"){30,50} | ([ab]{40} \"é\"?)*"),
                Grammar.json(),
                Grammar.jsonSchema("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":40},"
                        + "\"b1\":{\"type\":\"number\"}},\"additionalProperties\":{\"type\":\"array\"}}"));
        for (Grammar grammar : grammars) {
            GrammarMasks masks = new GrammarMasks(grammar, vocabulary);
            for (int run = 0; run < 20; run++) {
                GrammarState state = grammar.start();
                for (int step = 0; step < 12; step++) {
                    long[] allowed = masks.allowed(state);
                    assertArrayEquals(bruteForce(state, tokens, special, eos), allowed);
                    assertArrayEquals(allowed, masks.allowed(state), "from the cache");
                    int[] ids = ids(allowed, eos);
                    if (ids.length == 0) {
                        break;
                    }
                    state = state.accept(tokens[ids[random.nextInt(ids.length)]]);
                }
            }
        }
    }

    @Test
    void long_repetitions_share_masks_where_no_token_reaches_their_limits() {
        Vocabulary vocabulary = Texts.vocabulary("a", "aa", "aaa", "b", "c");
        Grammar grammar = Grammar.gbnf("root ::= \"c\" [ab]{100,1000} \"c\"");
        GrammarMasks masks = new GrammarMasks(grammar, vocabulary);
        GrammarState state = grammar.start().accept((byte) 'c');
        for (int count = 0; count < 1000; count++) {
            boolean end = count >= 100;
            long expected = (count <= 997 ? 0b111 : count == 998 ? 0b011 : 0b001) | 0b01000 | (end ? 0b10000 : 0);
            assertArrayEquals(new long[] {expected}, masks.allowed(state), "after " + count);
            state = state.accept((byte) 'b');
        }
        assertArrayEquals(new long[] {0b10000}, masks.allowed(state));
        assertTrue(masks.computed() < 12, masks.computed() + " walks");
    }

    private static int[] ids(long[] mask, int without) {
        return java.util.BitSet.valueOf(mask).stream()
                .filter(id -> id != without)
                .toArray();
    }

    /** A history that a test extends. */
    private static final class Tokens implements TokenHistory {
        private final List<Integer> ids = new ArrayList<>(List.of(7, 7));

        @Override
        public int size() {
            return ids.size();
        }

        @Override
        public int promptSize() {
            return 2;
        }

        @Override
        public int at(int position) {
            return ids.get(position);
        }
    }

    private static String allowed(LogitsStep step, Tokens history, int vocab) {
        float[] logits = new float[vocab];
        step.apply(logits, history);
        StringBuilder ids = new StringBuilder();
        for (int id = 0; id < vocab; id++) {
            ids.append(Float.isFinite(logits[id]) ? id + " " : "");
        }
        return ids.toString().strip();
    }

    @Test
    void a_step_follows_the_history_by_itself() {
        Vocabulary vocabulary = Texts.vocabulary("a", "b", "ab", "abc", "c");
        GrammarStep step = new GrammarMasks(Grammar.regex("(ab)+c?"), vocabulary).newStep();
        Tokens history = new Tokens();
        assertEquals("0 2 3", allowed(step, history, 9), "logits beyond the vocabulary are excluded");
        history.ids.add(0);
        assertEquals("1", allowed(step, history, 9));
        assertFalse(step.isComplete());
        history.ids.add(1);
        assertEquals("0 2 3 4 5", allowed(step, history, 9));
        assertTrue(step.isComplete());
        history.ids.addAll(List.of(2, 4));
        assertEquals("5", allowed(step, history, 9), "only the end is left");
        history.ids.add(5);
        assertEquals("5", allowed(step, history, 9), "after the end there is only the end");
        history.ids.subList(3, 7).clear();
        assertEquals("1", allowed(step, history, 9), "a history that was cut is read again");
    }

    @Test
    void logits_that_stay_are_not_changed() {
        GrammarStep step = new GrammarMasks(Grammar.choice(List.of("b")), Texts.vocabulary("a", "b", "c")).newStep();
        float[] logits = {1, 2, 3, 4};
        step.apply(logits, new Tokens());
        float no = Float.NEGATIVE_INFINITY;
        assertArrayEquals(new float[] {no, 2, no, no}, logits);
    }

    @Test
    void a_vocabulary_that_lacks_bytes_is_named_as_the_cause() {
        GrammarStep step = new GrammarMasks(Grammar.choice(List.of("ax")), Texts.vocabulary("a", "b")).newStep();
        Tokens history = new Tokens();
        allowed(step, history, 3);
        history.ids.add(0);
        String message = assertThrows(IllegalStateException.class, () -> allowed(step, history, 3))
                .getMessage();
        assertTrue(message.startsWith("no token of the vocabulary continues \"a\""), message);
    }

    @Test
    void a_grammar_before_the_chain_leaves_top_k_something_to_choose() {
        GrammarMasks masks = new GrammarMasks(Grammar.choice(List.of("c")), Texts.vocabulary("a", "b", "c"));
        Sampler sampler = Sampling.temperature(1).withTopK(1).newSampler(List.of(masks.newStep()));
        assertEquals(2, sampler.sample(new float[] {9, 8, 1, 7}, new Tokens()));
    }

    @Test
    void misuse_is_told() {
        GrammarMasks masks = new GrammarMasks(Grammar.choice(List.of("ab")), Texts.vocabulary("a", "b"));
        Tokens wrong = new Tokens();
        wrong.ids.add(1);
        assertThrows(IllegalStateException.class, () -> allowed(masks.newStep(), wrong, 3), "not allowed");
        assertThrows(IllegalStateException.class, () -> allowed(masks.newStep(), new Tokens(), 2), "too few logits");
        float[] banned = {Float.NEGATIVE_INFINITY, 0, 0};
        assertThrows(IllegalStateException.class, () -> masks.newStep().apply(banned, new Tokens()));
        assertThrows(
                IllegalArgumentException.class,
                () -> masks.allowed(Grammar.choice(List.of("ab")).start()));
        assertThrows(IllegalArgumentException.class, () -> Vocabulary.of(new byte[][] {{1}}, Set.of(), Set.of()));
        assertThrows(IllegalArgumentException.class, () -> Vocabulary.of(new byte[][] {{1}}, Set.of(), Set.of(1)));
    }

    @Test
    void the_mask_of_a_new_state_costs_milliseconds_at_fifty_thousand_tokens() {
        Random random = new Random(1);
        byte[][] tokens = new byte[50_000][];
        for (int id = 0; id < tokens.length; id++) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int length = id < 256 ? 1 : 2 + random.nextInt(9); length > 0; length--) {
                bytes.write(id < 256 ? id : random.nextInt(20) == 0 ? random.nextInt(256) : 'a' + random.nextInt(26));
            }
            tokens[id] = bytes.toByteArray();
        }
        Vocabulary vocabulary = Vocabulary.of(tokens, Set.of(), Set.of(0));
        Grammar grammar = Grammar.gbnf("root ::= \"[\" root \"]\" | \"\\\"\" [^\"]* \"\\\"\"");
        GrammarMasks masks = new GrammarMasks(grammar, vocabulary);
        ThreadMXBean cpu = ManagementFactory.getThreadMXBean();
        long[] nanos = new long[60];
        for (int i = 0; i < nanos.length; i++) {
            GrammarState state = grammar.start().accept(Texts.utf8("[".repeat(i) + "\""));
            long start = cpu.getCurrentThreadCpuTime();
            masks.mask(state);
            nanos[i] = cpu.getCurrentThreadCpuTime() - start;
        }
        java.util.Arrays.sort(nanos);
        double median = nanos[nanos.length / 2] / 1e6;
        System.out.printf(
                "grammar mask, 50,000 tokens, string at a new depth: median %.2f ms, worst %.2f ms%n",
                median, nanos[nanos.length - 1] / 1e6);
        assertEquals(nanos.length, masks.computed());
        assertTrue(median < 50, "median " + median + " ms");
    }
}
