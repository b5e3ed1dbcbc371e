package dev.torchane.testing;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Bytes written one after another, little-endian. */
public final class LittleEndian {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** The bytes of fp32 values. */
    public static byte[] floats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.asFloatBuffer().put(values);
        return buffer.array();
    }

    /** The bytes of values rounded to fp16. */
    public static byte[] halves(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putShort(Float.floatToFloat16(value));
        }
        return buffer.array();
    }

    /** The bytes of values cut to bf16. */
    public static byte[] bfloats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
        }
        return buffer.array();
    }

    public LittleEndian int32(int value) {
        return raw(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
    }

    public LittleEndian int64(long value) {
        return raw(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array());
    }

    public LittleEndian float32(float value) {
        return int32(Float.floatToRawIntBits(value));
    }

    public LittleEndian int8(int value) {
        bytes.write(value);
        return this;
    }

    /** A 64-bit length and the UTF-8 bytes, as GGUF writes strings. */
    public LittleEndian string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return int64(utf8.length).raw(utf8);
    }

    public LittleEndian raw(byte[] values) {
        bytes.writeBytes(values);
        return this;
    }

    /** Zeros up to a multiple. */
    public LittleEndian align(int multiple) {
        while (bytes.size() % multiple != 0) {
            bytes.write(0);
        }
        return this;
    }

    public int size() {
        return bytes.size();
    }

    public byte[] toBytes() {
        return bytes.toByteArray();
    }
}
