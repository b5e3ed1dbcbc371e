package dev.torchane;

/**
 * Something this library was asked to do could not be done. The message says what was wrong, where, and what to do.
 * Misuse of the API itself (a bad argument, use after close) is {@link IllegalArgumentException} or
 * {@link IllegalStateException}.
 */
public class TorchAneException extends RuntimeException {

    public TorchAneException(String message) {
        super(message);
    }

    public TorchAneException(String message, Throwable cause) {
        super(message, cause);
    }
}
