package dev.torchane.text;

/** Checks of arguments, so that a missing one is named where it was given. */
final class TextArguments {

    private TextArguments() {}

    /**
     * @return {@code value}
     * @throws IllegalArgumentException when it is null
     */
    static <T> T given(T value, String name) {
        if (value == null) {
            throw new IllegalArgumentException(name + " must not be null");
        }
        return value;
    }
}
