package dev.torchane;

import dev.torchane.grammar.Grammar;
import dev.torchane.grammar.GrammarMasks;
import dev.torchane.grammar.Vocabulary;
import dev.torchane.llm.LogitsStep;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** A model's grammars joined with its vocabulary; the masks of those used last are kept for the generations to come. */
final class GrammarSteps {

    private static final int KEPT = 8;

    private final Supplier<Vocabulary> make;
    private final Map<Grammar, GrammarMasks> kept = new LinkedHashMap<>(16, 0.75f, true);
    private Vocabulary vocabulary;

    /**
     * @param make reads the vocabulary, when the first grammar comes
     */
    GrammarSteps(Supplier<Vocabulary> make) {
        this.make = make;
    }

    /** The step that holds one generation to a grammar. */
    synchronized LogitsStep newStep(Grammar grammar) {
        if (vocabulary == null) {
            vocabulary = make.get();
        }
        GrammarMasks masks = kept.computeIfAbsent(grammar, added -> new GrammarMasks(added, vocabulary));
        if (kept.size() > KEPT) {
            kept.remove(kept.keySet().iterator().next());
        }
        return masks.newStep();
    }
}
