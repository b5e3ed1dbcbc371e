package dev.torchane.text;

/**
 * A piece of a template.
 *
 * @param text literal text, a name, an operator, the value of a string, the digits of a number
 */
record JinjaToken(Kind kind, String text, int line) {

    enum Kind {
        DATA,
        BLOCK_BEGIN,
        BLOCK_END,
        VARIABLE_BEGIN,
        VARIABLE_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    boolean is(Kind other, String value) {
        return kind == other && text.equals(value);
    }
}
