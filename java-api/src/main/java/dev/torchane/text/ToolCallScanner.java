package dev.torchane.text;

import java.util.List;
import java.util.function.Consumer;

/**
 * Tells tool calls from the text around them. The text of a call is held until the call is complete; what turns out to be
 * none is text again, and further calls are looked for in it. White space around calls is dropped.
 */
final class ToolCallScanner {

    /** Characters after which a call that has not ended is taken for text. */
    static final int LONGEST_CALL = 4 << 20;
    /** Things that looked like calls and were none, after which calls are no longer looked for. */
    static final int MOST_MALFORMED = 8;

    private final ToolCallFormat format;
    private final Consumer<String> text;
    private final Consumer<OutputPart.ToolCall> calls;
    private final MarkScanner openings;
    private final SpaceKeeper spaces = new SpaceKeeper(false);
    private final StringBuilder pending = new StringBuilder();
    private ToolCallReader reader;
    private String opening = "";
    private boolean mayBeginBare;
    private int malformed;
    private int count;

    ToolCallScanner(ToolCallFormat format, Consumer<String> text, Consumer<OutputPart.ToolCall> calls) {
        this.format = format;
        this.text = text;
        this.calls = calls;
        this.openings = new MarkScanner(format.openings());
        this.mayBeginBare = format.beginsBare();
    }

    void append(String piece) {
        int at = 0;
        while (at < piece.length()) {
            if (reader != null) {
                readCall(piece.charAt(at++));
            } else if (!beginsBare(piece.charAt(at))) {
                at = readText(piece, at);
            }
        }
    }

    void finish() {
        while (reader != null) {
            giveBack();
        }
        emit(openings.finish());
        text.accept(spaces.finish());
    }

    private boolean beginsBare(char c) {
        if (mayBeginBare && c == '{') {
            begin("");
            return true;
        }
        mayBeginBare &= SpaceKeeper.isSpace(c);
        return false;
    }

    private int readText(String piece, int from) {
        if (malformed >= MOST_MALFORMED) {
            emit(openings.finish() + piece.substring(from));
            return piece.length();
        }
        if (mayBeginBare) {
            emit(piece.substring(from, from + 1));
            return from + 1;
        }
        StringBuilder out = new StringBuilder();
        int behind = openings.scan(piece, from, out);
        emit(out.toString());
        if (behind < 0) {
            return piece.length();
        }
        begin(format.openings().get(openings.found()));
        return behind;
    }

    private void begin(String mark) {
        mayBeginBare = false;
        opening = mark;
        pending.append(mark);
        reader = format.newReader();
    }

    private void readCall(char c) {
        pending.append(c);
        switch (reader.accept(c)) {
            case MORE -> {
                if (pending.length() > LONGEST_CALL) {
                    giveBack();
                }
            }
            case CALLS -> takeCalls();
            case CLOSED -> {
                takeCalls();
                reader = null;
            }
            case DONE -> {
                reader = null;
                append(takePending());
            }
            case NONE -> giveBack();
        }
    }

    private void takeCalls() {
        for (ToolCallReader.Call call : reader.calls()) {
            calls.accept(new OutputPart.ToolCall(id(call), call.name(), call.argumentsJson()));
            count++;
        }
        spaces.mark();
        pending.setLength(0);
        opening = "";
    }

    private String id(ToolCallReader.Call call) {
        if (!call.id().isEmpty()) {
            return call.id();
        }
        int hash = List.of(call.name(), call.argumentsJson()).hashCode();
        String digits = Long.toString(count % 1296 + 1296L * Integer.toUnsignedLong(hash), 36);
        return "0".repeat(9 - digits.length()) + digits;
    }

    private void giveBack() {
        malformed++;
        reader = null;
        emit(opening);
        append(takePending().substring(opening.length()));
    }

    private String takePending() {
        String read = pending.toString();
        pending.setLength(0);
        return read;
    }

    private void emit(String certain) {
        text.accept(spaces.append(certain));
    }
}
