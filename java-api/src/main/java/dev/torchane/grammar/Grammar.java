package dev.torchane.grammar;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

    /**
     * Any JSON value (RFC 8259).
     *
     * <p>White space is limited, so that a model cannot go on with it for ever: none around the value and before {@code ,} and
     * {@code :}; after {@code :} at most one space; after {@code ,} and inside brackets that are not empty nothing, one space, or
     * one line end with at most 20 spaces or tabs.
     */
    public static Grammar json() {
        Map<String, Node> rules = new LinkedHashMap<>();
        JsonText.addTo(rules);
        return new Grammar(new Rules(JsonText.VALUE, rules, rule -> "JSON"));
    }

    /**
     * JSON documents that are valid under a JSON schema (2020-12). Every document the grammar allows is valid; where the schema
     * leaves choices that a model does not need, the grammar allows only some of the valid ones:
     *
     * <ul>
     *   <li>properties in the order of the schema, those outside {@code properties} only behind them, and only where
     *       {@code additionalProperties} says so or nothing is said of the object's properties at all;
     *   <li>items beyond {@code prefixItems} only where {@code items} says so;
     *   <li>numbers of at most 18 digits before the point, 18 behind it and two in the exponent; with bounds (of a {@code number}:
     *       integers of at most 14 digits) no exponent, and beside an open bound at most 9 digits before the point;
     *   <li>without {@code type}, the type that the other keywords speak of; white space as in {@link #json}.
     * </ul>
     *
     * <p>Honoured: {@code type}, {@code properties}, {@code required}, {@code additionalProperties}, {@code enum}, {@code const},
     * {@code items}, {@code prefixItems}, {@code minItems}, {@code maxItems}, {@code minLength}, {@code maxLength},
     * {@code pattern} (the subset of {@link #regex}), {@code format} (date, time, date-time, uuid, ipv4), {@code minimum},
     * {@code maximum}, {@code exclusiveMinimum}, {@code exclusiveMaximum}, {@code anyOf}, {@code oneOf} of branches that cannot
     * overlap, {@code allOf} of schemas that can be merged, {@code $ref} within the document, recursive ones too. Whatever else
     * constrains documents is refused, never ignored; annotations such as {@code title} have no effect.
     *
     * @throws GrammarException with the JSON pointer of what is not a schema, cannot be honoured, or that no document satisfies
     */
    public static Grammar jsonSchema(String schema) {
        return new Grammar(new SchemaCompiler(schema).compile());
    }

    /** The state before any output. */
    public GrammarState start() {
        return automaton.start();
    }
}
