package dev.torchane.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes small safetensors files, good ones and (through {@link #header()}) bad ones. */
public final class SafetensorsWriter {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final ObjectNode header = MAPPER.createObjectNode();
    private final LittleEndian data = new LittleEndian();

    /** Adds an entry to {@code __metadata__}. */
    public SafetensorsWriter metadata(String key, String value) {
        header.withObjectProperty("__metadata__").put(key, value);
        return this;
    }

    /** Adds an F32 tensor. */
    public SafetensorsWriter floats(String name, long[] shape, float... values) {
        return tensor(name, "F32", shape, LittleEndian.floats(values));
    }

    /** Adds a tensor of any type. */
    public SafetensorsWriter tensor(String name, String dtype, long[] shape, byte[] bytes) {
        ObjectNode entry = header.putObject(name);
        entry.put("dtype", dtype);
        for (long size : shape) {
            entry.withArrayProperty("shape").add(size);
        }
        entry.withArrayProperty("shape");
        entry.putArray("data_offsets").add(data.size()).add(data.size() + bytes.length);
        data.raw(bytes);
        return this;
    }

    /** The header as it will be written; change it to make a bad file. */
    public ObjectNode header() {
        return header;
    }

    /** The data as it will be written. */
    public LittleEndian data() {
        return data;
    }

    /** The whole file. */
    public byte[] toBytes() {
        return file(header.toString(), data.toBytes());
    }

    /** Writes the file. */
    public Path write(Path file) {
        try {
            return Files.write(file, toBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A file of any header text, padded to eight bytes as usual. */
    public static byte[] file(String header, byte[] data) {
        byte[] text = (header + " ".repeat((8 - header.getBytes(StandardCharsets.UTF_8).length % 8) % 8))
                .getBytes(StandardCharsets.UTF_8);
        return new LittleEndian().int64(text.length).raw(text).raw(data).toBytes();
    }
}
