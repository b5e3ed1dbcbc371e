package dev.torchane.grammar;

/** Checks that a text has an encoding in UTF-8. */
final class Unicode {

    private Unicode() {}

    static void requireWhole(String text, String position) {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            requireScalar(text.codePointAt(i), position);
        }
    }

    static int requireScalar(int codePoint, String position) {
        if (codePoint > Character.MAX_CODE_POINT
                || codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            throw new GrammarException(
                    position, String.format("U+%04X is half of a pair or beyond Unicode: no text holds it", codePoint));
        }
        return codePoint;
    }
}
