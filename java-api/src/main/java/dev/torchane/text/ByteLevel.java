package dev.torchane.text;

import java.nio.charset.StandardCharsets;

/** GPT-2's alphabet: a printable character for each byte, in which byte-level vocabularies are written. */
final class ByteLevel {

    private static final char[] CHARACTERS = new char[256];
    private static final short[] BYTES = new short[512];

    static {
        java.util.Arrays.fill(BYTES, (short) -1);
        int next = 256;
        for (int b = 0; b < 256; b++) {
            boolean printable = b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE;
            CHARACTERS[b] = (char) (printable ? b : next++);
            BYTES[CHARACTERS[b]] = (short) b;
        }
    }

    private ByteLevel() {}

    /** The bytes a token stands for; a token with characters outside the alphabet stands for its own UTF-8. */
    static byte[] bytes(String token) {
        byte[] bytes = new byte[token.length()];
        for (int i = 0; i < bytes.length; i++) {
            char c = token.charAt(i);
            if (c >= BYTES.length || BYTES[c] < 0) {
                return token.getBytes(StandardCharsets.UTF_8);
            }
            bytes[i] = (byte) BYTES[c];
        }
        return bytes;
    }

    /** A text in the alphabet, byte by byte. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            encoded.append(CHARACTERS[b & 0xFF]);
        }
        return encoded.toString();
    }
}
