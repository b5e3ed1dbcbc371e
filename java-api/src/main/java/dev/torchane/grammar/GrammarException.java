package dev.torchane.grammar;

import dev.torchane.TorchAneException;

/** A grammar, an expression or a schema cannot be used. {@link #position()} says where the fault lies in its text. */
public final class GrammarException extends TorchAneException {

    private final String position;

    GrammarException(String position, String problem) {
        super(position + ": " + problem);
        this.position = position;
    }

    /** {@code line 3, column 7} in GBNF, {@code index 5} in an expression, a JSON pointer such as {@code #/items} in a schema. */
    public String position() {
        return position;
    }
}
