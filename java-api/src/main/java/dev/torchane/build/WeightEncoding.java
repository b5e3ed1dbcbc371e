package dev.torchane.build;

import java.util.Locale;

/**
 * How the linear layers' weights are stored in a bundle. With four and six bits the embedding table and the head are int8:
 * they are the layers that lose most, and a table is looked up row by row.
 */
public enum WeightEncoding {
    /**
     * The blocks of a GGUF as they are, the embedding's too: no value is rounded again. What is not in blocks, or was changed on the
     * way, becomes {@link #INT8}, and so does everything that is not built for the CPU.
     */
    STORED(0, 0),
    /** As the checkpoint's values in fp32. */
    FP32(32, 0),
    /** Rounded to fp16. */
    FP16(16, 0),
    /** int8 with one scale per output channel, symmetric. */
    INT8(8, 0),
    /** int4 with one scale per block of 32 inputs, symmetric. Not for the Neural Engine. */
    INT4(4, 32),
    /** A palette of 16 values for each group of 8 output channels. */
    LUT4(4, 8),
    /** A palette of 16 values for each group of 32 output channels. */
    LUT4G32(4, 32),
    /** A palette of 64 values for each group of 8 output channels. */
    LUT6(6, 8);

    private final int bits;
    private final int group;

    WeightEncoding(int bits, int group) {
        this.bits = bits;
        this.group = group;
    }

    /** Bits of one weight, scales and palettes not counted; 0 where the checkpoint decides. */
    public int bits() {
        return bits;
    }

    /** Output channels that share a palette, or inputs that share a scale, at most; 0 where neither is shared. */
    public int group() {
        return group;
    }

    /** Whether weights are indices into palettes. */
    public boolean isPalette() {
        return this == LUT4 || this == LUT4G32 || this == LUT6;
    }

    /** How the embedding table and the head are stored in a build with this encoding. */
    public WeightEncoding ofTables() {
        return bits > 0 && bits < 8 ? INT8 : this;
    }

    /** Lower-case name, as in manifests and on the command line. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
