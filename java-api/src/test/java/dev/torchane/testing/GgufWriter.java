package dev.torchane.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes small GGUF files. */
public final class GgufWriter {

    public static final int F32 = 0;
    public static final int F16 = 1;
    public static final int Q4_0 = 2;
    public static final int Q4_1 = 3;
    public static final int Q5_0 = 6;
    public static final int Q5_1 = 7;
    public static final int Q8_0 = 8;
    public static final int Q2_K = 10;
    public static final int Q3_K = 11;
    public static final int Q4_K = 12;
    public static final int Q5_K = 13;
    public static final int Q6_K = 14;
    public static final int IQ2_XXS = 16;
    public static final int BF16 = 30;

    private final LittleEndian pairs = new LittleEndian();
    private final LittleEndian descriptions = new LittleEndian();
    private final LittleEndian data = new LittleEndian();
    private int version = 3;
    private int alignment = 32;
    private long pairCount;
    private long tensorCount;

    public GgufWriter version(int number) {
        version = number;
        return this;
    }

    /** Writes tensors at multiples of {@code bytes} and says so. */
    public GgufWriter alignment(int bytes) {
        alignment = bytes;
        return uint32("general.alignment", bytes);
    }

    public GgufWriter string(String key, String value) {
        pair(key, 8).string(value);
        return this;
    }

    public GgufWriter uint32(String key, int value) {
        pair(key, 4).int32(value);
        return this;
    }

    public GgufWriter float32(String key, float value) {
        pair(key, 6).float32(value);
        return this;
    }

    public GgufWriter bool(String key, boolean value) {
        pair(key, 7).int8(value ? 1 : 0);
        return this;
    }

    public GgufWriter strings(String key, List<String> values) {
        pair(key, 9).int32(8).int64(values.size());
        values.forEach(pairs::string);
        return this;
    }

    public GgufWriter int32s(String key, List<Integer> values) {
        pair(key, 9).int32(5).int64(values.size());
        values.forEach(pairs::int32);
        return this;
    }

    public GgufWriter bools(String key, List<Boolean> values) {
        pair(key, 9).int32(7).int64(values.size());
        values.forEach(value -> pairs.int8(value ? 1 : 0));
        return this;
    }

    public GgufWriter float32s(String key, List<Float> values) {
        pair(key, 9).int32(6).int64(values.size());
        values.forEach(pairs::float32);
        return this;
    }

    /** Adds an F32 tensor; the shape as in PyTorch, outermost axis first. */
    public GgufWriter floats(String name, long[] shape, float... values) {
        return tensor(name, F32, shape, LittleEndian.floats(values));
    }

    /** Adds a tensor of a GGUF type; the shape as in PyTorch, outermost axis first. */
    public GgufWriter tensor(String name, int type, long[] shape, byte[] bytes) {
        data.align(alignment);
        return tensorAt(name, type, shape, data.size(), bytes);
    }

    /** Adds a tensor that claims to lie at an offset, which may be a lie. */
    public GgufWriter tensorAt(String name, int type, long[] shape, long offset, byte[] bytes) {
        descriptions.string(name).int32(shape.length);
        for (int i = shape.length - 1; i >= 0; i--) {
            descriptions.int64(shape[i]);
        }
        descriptions.int32(type).int64(offset);
        data.raw(bytes);
        tensorCount++;
        return this;
    }

    /** The whole file. */
    public byte[] toBytes() {
        return new LittleEndian()
                .int32(0x46554747)
                .int32(version)
                .int64(tensorCount)
                .int64(pairCount)
                .raw(pairs.toBytes())
                .raw(descriptions.toBytes())
                .align(alignment)
                .raw(data.toBytes())
                .toBytes();
    }

    /** Writes the file. */
    public Path write(Path file) {
        try {
            return Files.write(file, toBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private LittleEndian pair(String key, int type) {
        pairCount++;
        return pairs.string(key).int32(type);
    }
}
