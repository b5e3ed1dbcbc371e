package dev.torchane.grammar;

import java.util.List;

/**
 * A set of texts that a model's output is held to. Compiled once, immutable, safe for use by several threads and by any number
 * of generations; {@link GrammarMasks} joins it with a vocabulary.
 */
public final class Grammar {

    private final Automaton automaton;

    private Grammar(Rules rules) {
        this.automaton = Compiler.compile(rules);
    }

    /**
     * A grammar in llama.cpp's GBNF; the rule {@code root} is what the output must match.
     *
     * <p>Rules ({@code name ::= …}, ended by the line; a line that begins with {@code |} continues the one above), literals and
     * character classes with the escapes {@code \n \r \t \\ \" \[ \] \- \^} and {@code \x}, {@code \}{@code u}, {@code \U} with 2, 4, 8
     * hexadecimal digits of a code point, {@code .} for any character, groups, {@code |}, the quantifiers
     * {@code * + ? {m} {m,} {m,n} {,n}}, {@code #} comments. Repetitions count lazily, up to 1,000,000.
     *
     * @throws GrammarException with line and column if the text is malformed, names an unknown rule, recurses on the left or
     *     matches nothing
     */
    public static Grammar gbnf(String text) {
        return new Grammar(new GbnfParser(text).parse());
    }

    /**
     * The texts that a regular expression matches as a whole, as {@link java.util.regex.Pattern#matches} has it.
     *
     * <p>The subset: characters, {@code .}, classes with ranges and negation, {@code \d \D \w \W \s \S} (ASCII, as Java),
     * {@code \n \r \t \f}, {@code \x} and {@code \}{@code u} with hexadecimal digits, groups (capturing, named, {@code (?:…)}), {@code |}, the quantifiers
     * {@code * + ? {m} {m,} {m,n}} greedy or lazy, {@code ^} at the very start and {@code $} at the very end of an alternative.
     *
     * @throws GrammarException with the index of a construct outside the subset: back references, look-around, possessive
     *     quantifiers, flags, boundaries, {@code \p}, class intersections
     */
    public static Grammar regex(String expression) {
        return new Grammar(Rules.single(RegexParser.whole(expression)));
    }

    /**
     * One of these texts.
     *
     * @throws GrammarException if there is none, or one cannot be written in UTF-8
     */
    public static Grammar choice(List<String> texts) {
        for (int i = 0; i < texts.size(); i++) {
            Unicode.requireWhole(texts.get(i), "choice " + i);
        }
        if (texts.isEmpty()) {
            throw new GrammarException("choice", "there is nothing to choose from; give at least one text");
        }
        return new Grammar(Rules.single(new Node.Strings(List.copyOf(texts))));
    }

    static Grammar of(Rules rules) {
        return new Grammar(rules);
    }

    /** The state before any output. */
    public GrammarState start() {
        return automaton.start();
    }
}
