package dev.torchane.llm;

import dev.torchane.TorchAneException;
import java.nio.file.Path;

/** A saved conversation cannot be restored; {@link #reason()} says of what kind the trouble is. Nothing was changed. */
public final class SavedStateException extends TorchAneException {

    /** What is wrong. */
    public enum Reason {
        /** There is no such file, or it cannot be read. */
        UNREADABLE,
        /** The file is something else. */
        NOT_A_STATE,
        /** Another version of this library wrote it in another format. */
        OTHER_FORMAT,
        /** Bytes are missing, added or changed. */
        DAMAGED,
        /** It belongs to another model, or to another build of it. */
        OTHER_MODEL,
        /** It has more tokens than this build's maxLen. */
        TOO_LONG
    }

    private final Reason reason;

    SavedStateException(Reason reason, Path file, String found) {
        this(reason, file, found, null);
    }

    SavedStateException(Reason reason, Path file, String found, Throwable cause) {
        super("the saved state " + file + " cannot be restored: " + found, cause);
        this.reason = reason;
    }

    /** What is wrong. */
    public Reason reason() {
        return reason;
    }
}
