package dev.torchane.weights;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How a tensor's values are stored: an element type, or a GGUF block of several values with shared scales.
 *
 * <p>The block layouts are those of ggml; {@code dequantize} follows their reference formulas in fp32, without fused
 * multiply-add.
 */
public enum WeightType {
    F64("F64", 1, 8),
    F32("F32", 1, 4),
    F16("F16", 1, 2),
    BF16("BF16", 1, 2),
    I64("I64", 1, 8),
    I32("I32", 1, 4),
    I16("I16", 1, 2),
    I8("I8", 1, 1),
    U8("U8", 1, 1),
    BOOL("BOOL", 1, 1),
    Q4_0("Q4_0", 32, 18),
    Q4_1("Q4_1", 32, 20),
    Q5_0("Q5_0", 32, 22),
    Q5_1("Q5_1", 32, 24),
    Q8_0("Q8_0", 32, 34),
    Q2_K("Q2_K", 256, 84),
    Q3_K("Q3_K", 256, 110),
    Q4_K("Q4_K", 256, 144),
    Q5_K("Q5_K", 256, 176),
    Q6_K("Q6_K", 256, 210);

    private final String label;
    private final int blockElements;
    private final int blockBytes;

    WeightType(String label, int blockElements, int blockBytes) {
        this.label = label;
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    /** The block format of a name such as {@code q4_0}, in any case. */
    public static Optional<WeightType> block(String name) {
        return Arrays.stream(values())
                .filter(type -> type.isBlocked() && type.label.equalsIgnoreCase(name))
                .findFirst();
    }

    /** Names of all block formats in lower case. */
    public static List<String> blocks() {
        return Arrays.stream(values())
                .filter(WeightType::isBlocked)
                .map(WeightType::id)
                .toList();
    }

    /** The label in lower case, as in programs and manifests. */
    public String id() {
        return label.toLowerCase(Locale.ROOT);
    }

    /** The name that safetensors and GGUF tools print. */
    public String label() {
        return label;
    }

    /** Values in a block; 1 for element types. */
    public int blockElements() {
        return blockElements;
    }

    /** Bytes of a block. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Whether values share scales in blocks, as in quantised GGUF files. */
    public boolean isBlocked() {
        return blockElements > 1;
    }

    /**
     * Writes stored values as native fp32.
     *
     * @param source little-endian values, whole blocks
     * @param elements how many
     * @param target at least {@code elements * 4} bytes
     */
    public void dequantize(MemorySegment source, long elements, MemorySegment target) {
        bytes(elements);
        Dequantizer.dequantize(this, source, elements, target);
    }

    /**
     * Bytes of {@code elements} values.
     *
     * @throws ArithmeticException when the number is not whole blocks or overflows
     */
    public long bytes(long elements) {
        if (elements % blockElements != 0) {
            throw new ArithmeticException(elements + " values are not whole blocks of " + blockElements);
        }
        return Math.multiplyExact(elements / blockElements, (long) blockBytes);
    }
}
