package dev.torchane.text;

/** A template cannot be parsed or rendered. */
final class JinjaError extends RuntimeException {

    /** Line of the template where it happened; 0 when not known yet. */
    private final int line;

    private final boolean raised;

    JinjaError(String message) {
        this(message, 0, false);
    }

    JinjaError(String message, int line, boolean raised) {
        super(message, null, false, false);
        this.line = line;
        this.raised = raised;
    }

    int line() {
        return line;
    }

    /** Whether the template itself refused, with raise_exception. */
    boolean isRaised() {
        return raised;
    }

    JinjaError at(int where) {
        return line > 0 ? this : new JinjaError(getMessage(), where, raised);
    }
}
