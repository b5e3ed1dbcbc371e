package dev.torchane.program;

import java.util.Arrays;

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
     * The nearest number of this type; exact for integers.
     *
     * @throws IllegalArgumentException when this is an integer type that cannot hold the number, or no type of numbers
     */
    public double rounded(double value) {
        switch (this) {
            case FP64 -> {
                return value;
            }
            case FP32 -> {
                return (float) value;
            }
            case FP16 -> {
                return Float.float16ToFloat(Float.floatToFloat16((float) value));
            }
            case BF16 -> {
                int raw = Float.floatToRawIntBits((float) value);
                int even = Double.isNaN(value) ? raw : raw + 0x7fff + ((raw >>> 16) & 1);
                return Float.intBitsToFloat(even & 0xffff0000);
            }
            case STRING -> throw new IllegalArgumentException("a string is not a number: " + value);
            default -> {
                double least = this == BOOL || mil.startsWith("u") ? 0 : -Math.scalb(1.0, bits - 1);
                double bound = this == BOOL ? 2 : Math.scalb(1.0, mil.startsWith("u") ? bits : bits - 1);
                if (!(value >= least && value < bound) || value != Math.rint(value)) {
                    throw new IllegalArgumentException(mil + " cannot hold " + value);
                }
                return value == 0 ? 0.0 : value;
            }
        }
    }

    /** Whether MIL has an element type of this name. */
    static boolean isMil(String name) {
        return Arrays.stream(values()).anyMatch(type -> type.mil.equals(name));
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
