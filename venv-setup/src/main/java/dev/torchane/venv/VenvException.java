package dev.torchane.venv;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Locale;

/** The environment could not be installed. The message says what was wrong, where, and what to do. */
public class VenvException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public VenvException(String message) {
        super(message);
    }

    public VenvException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Says a failure of the disk in words that help: full, forbidden, or what the system said. */
    static VenvException disk(Path where, IOException cause) {
        String said = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
        if (said.contains("no space left") || said.contains("not enough space") || said.contains("quota")) {
            return new VenvException(
                    "the disk is full: %s could not be written (%s). Free some space, or put the cache elsewhere with TORCH_ANE_CACHE"
                            .formatted(where, cause.getMessage()),
                    cause);
        }
        if (cause instanceof AccessDeniedException
                || said.contains("permission denied")
                || said.contains("read-only")) {
            return new VenvException(
                    "no permission to write %s. Make it writable, or put the cache elsewhere with TORCH_ANE_CACHE"
                            .formatted(fileOf(cause, where)),
                    cause);
        }
        return new VenvException(
                "the Python environment could not be installed in %s: %s".formatted(where, cause), cause);
    }

    private static Object fileOf(IOException cause, Path where) {
        return cause instanceof FileSystemException e && e.getFile() != null ? e.getFile() : where;
    }
}
