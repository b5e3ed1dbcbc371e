package dev.torchane.text;

import java.util.function.IntPredicate;

/** Decoder for byte-level vocabularies: tokens are bytes, characters may span tokens. */
final class ByteLevelDecoder implements IncrementalDecoder {

    private final Vocabulary vocabulary;
    private final IntPredicate isLeftOut;
    private final Utf8Stream utf8 = new Utf8Stream();

    ByteLevelDecoder(Vocabulary vocabulary, IntPredicate isLeftOut) {
        this.vocabulary = vocabulary;
        this.isLeftOut = isLeftOut;
    }

    @Override
    public String append(int id) {
        if (isLeftOut.test(id)) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        for (byte b : ByteLevel.bytes(vocabulary.token(id))) {
            utf8.append(b & 0xFF, text);
        }
        return text.toString();
    }

    @Override
    public String finish() {
        StringBuilder text = new StringBuilder();
        utf8.finish(text);
        return text.toString();
    }
}
