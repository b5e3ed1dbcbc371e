package dev.torchane.diffusion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What torch and diffusers gave; each file has the script that wrote it beside it. */
final class Golden {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Golden() {}

    static JsonNode read(String name) {
        try (InputStream in = Golden.class.getResourceAsStream(name)) {
            return MAPPER.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static float[] floats(JsonNode array) {
        return MAPPER.convertValue(array, float[].class);
    }

    static double[] doubles(JsonNode array) {
        return MAPPER.convertValue(array, double[].class);
    }

    /** SHA-256 of the numbers as little-endian fp32. */
    static String sha256(float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
