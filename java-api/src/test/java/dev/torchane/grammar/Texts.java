package dev.torchane.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Helps tests to ask a grammar about texts, and to let it write some. */
final class Texts {

    private Texts() {}

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static boolean matches(Grammar grammar, String text) {
        return grammar.start().accept(utf8(text)).isComplete();
    }

    static boolean begins(Grammar grammar, String text) {
        return !grammar.start().accept(utf8(text)).isDead();
    }

    /** A text the grammar allows: bytes at random; where it may end, it does so at the given chance. */
    static String walk(Grammar grammar, RandomGenerator random, double end, int maxBytes) {
        byte[] text = new byte[maxBytes];
        int length = 0;
        GrammarState state = grammar.start();
        while (length < maxBytes) {
            List<Integer> allowed = new ArrayList<>();
            for (int b = 0; b < 256; b++) {
                if (!state.step(b).isDead()) {
                    allowed.add(b);
                }
            }
            if (allowed.isEmpty() || state.isComplete() && random.nextDouble() < end) {
                return state.isComplete() ? new String(text, 0, length, StandardCharsets.UTF_8) : "dead end";
            }
            // characters of syntax are as likely as all letters together, so walks end
            List<Integer> syntax = allowed.stream()
                    .filter(b -> b < 0x80 && "\"}],:".indexOf(b) >= 0)
                    .toList();
            List<Integer> from = !syntax.isEmpty() && random.nextInt(3) > 0 ? syntax : allowed;
            int b = from.get(random.nextInt(from.size()));
            text[length++] = (byte) b;
            state = state.step(b);
        }
        return null;
    }

    /** A vocabulary of these tokens, then EOS. */
    static Vocabulary vocabulary(String... tokens) {
        byte[][] bytes = new byte[tokens.length + 1][];
        for (int i = 0; i < tokens.length; i++) {
            bytes[i] = utf8(tokens[i]);
        }
        bytes[tokens.length] = utf8("</s>");
        return Vocabulary.of(bytes, Set.of(), Set.of(tokens.length));
    }
}
