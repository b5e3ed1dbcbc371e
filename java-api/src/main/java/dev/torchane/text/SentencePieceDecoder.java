package dev.torchane.text;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.IntPredicate;

/**
 * Decoder for SentencePiece vocabularies with byte tokens. A run of byte tokens is held until it ends, because whether it
 * is text depends on the whole run: an invalid run becomes one U+FFFD for each byte.
 */
final class SentencePieceDecoder implements IncrementalDecoder {

    private static final int BYTE_TOKEN_LENGTH = "<0x00>".length();

    private final Vocabulary vocabulary;
    private final IntPredicate isLeftOut;
    private final ByteArrayOutputStream run = new ByteArrayOutputStream();
    private int spacesToStrip;

    /**
     * @param isLeftOut ids that are no text
     * @param spacesToStrip leading spaces that the tokenizer added and decoding removes
     */
    SentencePieceDecoder(Vocabulary vocabulary, IntPredicate isLeftOut, int spacesToStrip) {
        this.vocabulary = vocabulary;
        this.isLeftOut = isLeftOut;
        this.spacesToStrip = spacesToStrip;
    }

    @Override
    public String append(int id) {
        if (isLeftOut.test(id)) {
            return "";
        }
        String token = vocabulary.token(id);
        int value = byteValue(token);
        if (value >= 0) {
            run.write(value);
            return "";
        }
        return strip(endRun() + withSpaces(token));
    }

    @Override
    public String finish() {
        return strip(endRun());
    }

    private String strip(String text) {
        int start = 0;
        while (start < text.length() && spacesToStrip > 0) {
            if (text.charAt(start) != ' ') {
                spacesToStrip = 0;
                break;
            }
            start++;
            spacesToStrip--;
        }
        return text.substring(start);
    }

    private String endRun() {
        byte[] bytes = run.toByteArray();
        run.reset();
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return "\uFFFD".repeat(bytes.length);
        }
    }

    /** The bytes that a token stands for. */
    static byte[] bytes(String token) {
        int value = byteValue(token);
        return value >= 0 ? new byte[] {(byte) value} : withSpaces(token).getBytes(StandardCharsets.UTF_8);
    }

    private static String withSpaces(String token) {
        return token.replace('\u2581', ' ');
    }

    private static int byteValue(String token) {
        if (token.length() != BYTE_TOKEN_LENGTH || !token.startsWith("<0x") || !token.endsWith(">")) {
            return -1;
        }
        int high = Character.digit(token.charAt(3), 16);
        int low = Character.digit(token.charAt(4), 16);
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }
}
