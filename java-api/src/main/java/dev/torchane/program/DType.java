package dev.torchane.program;

/** Element types of MIL, with their MIL name and their width. */
public enum DType {
    FP64("fp64", 64),
    FP32("fp32", 32),
    FP16("fp16", 16),
    BF16("bf16", 16),
    INT64("int64", 64),
    INT32("int32", 32),
    INT16("int16", 16),
    INT8("int8", 8),
    INT4("int4", 4),
    UINT64("uint64", 64),
    UINT32("uint32", 32),
    UINT16("uint16", 16),
    UINT8("uint8", 8),
    UINT6("uint6", 6),
    UINT4("uint4", 4),
    UINT3("uint3", 3),
    UINT2("uint2", 2),
    UINT1("uint1", 1),
    BOOL("bool", 8),
    STRING("string", 0);

    private final String mil;
    private final int bits;

    DType(String mil, int bits) {
        this.mil = mil;
        this.bits = bits;
    }

    /** The name MIL text uses, such as {@code fp16}. */
    public String mil() {
        return mil;
    }

    /** Bits of one element; 0 for {@link #STRING}. */
    public int bits() {
        return bits;
    }

    /** Whether elements are floating point numbers. */
    public boolean isFloat() {
        return this == FP64 || this == FP32 || this == FP16 || this == BF16;
    }

    /** Bytes that {@code elements} densely packed elements take; sub-byte types are packed, the last byte padded. */
    public long bytes(long elements) {
        return Math.ceilDivExact(Math.multiplyExact(elements, (long) bits), 8L);
    }

    /**
     * The type with the given MIL name.
     *
     * @throws IllegalArgumentException when MIL has no such type
     */
    public static DType ofMil(String name) {
        for (DType type : values()) {
            if (type.mil.equals(name)) {
                return type;
            }
        }
        throw new IllegalArgumentException("no MIL element type is called '" + name + "'");
    }
}
