package dev.torchane.cache;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;

/**
 * Identifies a build: what it was made from, with which options, by which versions. Two builds with the same key are
 * interchangeable.
 *
 * @param source digest of the checkpoint's files
 * @param options every option of the build, by name
 * @param versions of everything that shapes the result
 */
public record ModelKey(String source, SortedMap<String, String> options, String versions) {

    /** Name of the entry: {@code <source>-<options>-<versions>}, each a shortened SHA-256. */
    public String entry() {
        return prefix() + shortened(versions, 12);
    }

    /** What entries of other versions have in common with this one. */
    public String prefix() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> option : options.entrySet()) {
            text.append(option.getKey()).append('=').append(option.getValue()).append('\n');
        }
        return shortened(source, 20) + "-" + shortened(text.toString(), 12) + "-";
    }

    private static String shortened(String text, int digits) {
        return HexFormat.of()
                .formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)))
                .substring(0, digits);
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
