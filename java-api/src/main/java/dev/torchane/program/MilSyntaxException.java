package dev.torchane.program;

import dev.torchane.TorchAneException;

/** MIL text is malformed. The message names the source, line, column, what was expected and what was found. */
public final class MilSyntaxException extends TorchAneException {

    private final int line;
    private final int column;

    MilSyntaxException(String source, int line, int column, String problem) {
        super(source + ":" + line + ":" + column + ": " + problem);
        this.line = line;
        this.column = column;
    }

    /** Line, from 1. */
    public int line() {
        return line;
    }

    /** Column in bytes, from 1. */
    public int column() {
        return column;
    }
}
