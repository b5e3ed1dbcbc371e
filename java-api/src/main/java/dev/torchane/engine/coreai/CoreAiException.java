package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;

/** The process that runs Core AI ended, did not answer, or answered something else; the message ends with what it wrote last. */
public final class CoreAiException extends TorchAneException {

    private static final long serialVersionUID = 1;

    CoreAiException(String message) {
        super(message);
    }

    CoreAiException(String message, Throwable cause) {
        super(message, cause);
    }
}
