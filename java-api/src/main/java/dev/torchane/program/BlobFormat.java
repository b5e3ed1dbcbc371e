package dev.torchane.program;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Optional;

/**
 * MIL blob storage, version 2, as Core ML has read it since iOS 15 (coremltools, {@code mlmodel/src/MILBlob/Blob/}:
 * {@code StorageFormat.hpp}, {@code BlobDataType.hpp}, {@code StorageWriter.cpp}). All numbers are little-endian.
 *
 * <pre>
 * header, 64 bytes     u32 count of blobs · u32 version 2 · 56 reserved bytes
 * each blob            at the next multiple of 64:
 *   record, 64 bytes   u32 0xDEADBEEF · u32 element type · u64 bytes · u64 offset of the data · u64 padding bits · 32 reserved
 *   data               right behind the record; the last blob is not padded
 * </pre>
 *
 * <p>A program names a blob by the offset of its record. Padding bits are the unused bits of the last byte of a
 * sub-byte type.
 */
final class BlobFormat {

    static final int ALIGNMENT = 64;
    static final int VERSION = 2;
    static final int SENTINEL = 0xDEADBEEF;
    static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final Map<DType, Integer> CODES = Map.ofEntries(
            Map.entry(DType.FP16, 1),
            Map.entry(DType.FP32, 2),
            Map.entry(DType.UINT8, 3),
            Map.entry(DType.INT8, 4),
            Map.entry(DType.BF16, 5),
            Map.entry(DType.INT16, 6),
            Map.entry(DType.UINT16, 7),
            Map.entry(DType.INT4, 8),
            Map.entry(DType.UINT1, 9),
            Map.entry(DType.UINT2, 10),
            Map.entry(DType.UINT4, 11),
            Map.entry(DType.UINT3, 12),
            Map.entry(DType.UINT6, 13),
            Map.entry(DType.INT32, 14),
            Map.entry(DType.UINT32, 15));

    private BlobFormat() {}

    /** The code of an element type; the format has none for bool, strings and 64-bit types. */
    static Optional<Integer> code(DType dtype) {
        return Optional.ofNullable(CODES.get(dtype));
    }

    static Optional<DType> dtype(int code) {
        return CODES.entrySet().stream()
                .filter(entry -> entry.getValue() == code)
                .map(Map.Entry::getKey)
                .findFirst();
    }

    static long align(long offset) {
        return Math.addExact(offset, ALIGNMENT - 1L) & -ALIGNMENT;
    }
}
