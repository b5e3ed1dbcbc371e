package dev.torchane.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Reader of GGUF, versions 2 and 3, little-endian: metadata, tensor descriptions, then the tensors at aligned offsets.
 *
 * @param metadata the key-value part
 * @param tensors tensors in the file's order
 */
record GgufFile(Path file, GgufMetadata metadata, List<Tensor> tensors) {

    /**
     * A tensor as the file describes it.
     *
     * @param shape outermost axis first (the file has them the other way round)
     * @param data its bytes
     */
    record Tensor(String name, WeightType type, List<Long> shape, MemorySegment data) {}

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGIC = 0x46554747;
    private static final int MAX_AXES = 4;
    private static final long SMALLEST_PAIR = 8 + 4 + 1;
    private static final long SMALLEST_TENSOR = 8 + 4 + 4 + 8;
    private static final long DEFAULT_ALIGNMENT = 32;

    static GgufFile read(MappedFile mapped) {
        Path file = mapped.file();
        MemorySegment bytes = mapped.bytes();
        checkVersion(file, bytes);
        GgufCursor cursor = new GgufCursor(file, bytes, 8);
        long tensorCount = cursor.count(SMALLEST_TENSOR, "the number of tensors");
        long pairCount = cursor.count(SMALLEST_PAIR, "the number of metadata pairs");
        GgufMetadata metadata = metadata(file, cursor, pairCount);
        OptionalLong parts = metadata.integer("split.count");
        if (parts.orElse(1) > 1) {
            throw new CheckpointFault.UnsupportedVariant(
                            file,
                            "one of " + parts.getAsLong() + " parts of a split GGUF",
                            "merge the parts with llama.cpp's gguf-split")
                    .exception();
        }
        List<Description> descriptions = new ArrayList<>();
        for (long i = 0; i < tensorCount; i++) {
            descriptions.add(description(file, cursor));
        }
        return new GgufFile(file, metadata, validate(file, bytes, cursor.position(), metadata, descriptions));
    }

    private static void checkVersion(Path file, MemorySegment bytes) {
        if (bytes.byteSize() < 8 || bytes.get(INT, 0) != MAGIC) {
            boolean swapped = bytes.byteSize() >= 4 && bytes.get(INT, 0) == Integer.reverseBytes(MAGIC);
            if (swapped) {
                throw bigEndian(file);
            }
            String found = FileProbe.recognise(bytes).orElse("it does not begin with 'GGUF'");
            throw new CheckpointFault.WrongFormat(file, "GGUF", found).exception();
        }
        int version = bytes.get(INT, 4);
        if ((version & 0xFFFF) == 0 && version != 0) {
            throw bigEndian(file);
        }
        if (version == 1) {
            throw new CheckpointFault.UnsupportedVariant(
                            file, "GGUF version 1", "convert the model again with a llama.cpp of 2024 or later")
                    .exception();
        }
        if (version != 2 && version != 3) {
            throw new CheckpointFault.UnsupportedVariant(
                            file, "GGUF version " + Integer.toUnsignedString(version), "versions 2 and 3 are read")
                    .exception();
        }
    }

    private static CheckpointException bigEndian(Path file) {
        return new CheckpointFault.UnsupportedVariant(
                        file, "a big-endian GGUF", "convert the model for a little-endian machine")
                .exception();
    }

    private static GgufMetadata metadata(Path file, GgufCursor cursor, long count) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (long i = 0; i < count; i++) {
            String key = cursor.string("metadata key " + i);
            int type = cursor.int32("the type of '" + key + "'");
            if (values.put(key, cursor.value(type, key)) != null) {
                throw new CheckpointFault.BadHeader(file, "metadata key '" + key + "' occurs twice").exception();
            }
        }
        return new GgufMetadata(file, values);
    }

    /** A tensor's entry in the header, before anything is checked. */
    private record Description(String name, List<Long> shape, int type, long offset) {}

    private static Description description(Path file, GgufCursor cursor) {
        String name = cursor.string("a tensor's name");
        int axes = cursor.int32("the axes of '" + name + "'");
        if (axes < 0 || axes > MAX_AXES) {
            throw new CheckpointFault.BadTensor(
                            file,
                            name,
                            "has " + Integer.toUnsignedString(axes) + " axes, at most " + MAX_AXES + " are possible")
                    .exception();
        }
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < axes; i++) {
            shape.addFirst(cursor.int64("the shape of '" + name + "'"));
        }
        int type = cursor.int32("the type of '" + name + "'");
        return new Description(name, shape, type, cursor.int64("the offset of '" + name + "'"));
    }

    /** The one place where every rule about tensors is enforced. */
    private static List<Tensor> validate(
            Path file, MemorySegment bytes, long headerEnd, GgufMetadata metadata, List<Description> descriptions) {
        long alignment = metadata.integer("general.alignment").orElse(DEFAULT_ALIGNMENT);
        if (alignment < 8 || alignment > 1 << 20 || Long.bitCount(alignment) != 1) {
            throw new CheckpointFault.BadConfig(
                            file, "general.alignment", "is " + alignment + ", expected a power of two from 8 to 2^20")
                    .exception();
        }
        long dataStart = aligned(headerEnd, alignment);
        long dataBytes = Math.max(0, bytes.byteSize() - dataStart);
        Set<String> names = new HashSet<>();
        List<Tensor> tensors = new ArrayList<>();
        long covered = 0;
        String previous = "the header";
        for (Description tensor : descriptions.stream()
                .sorted(Comparator.comparingLong(Description::offset))
                .toList()) {
            if (!names.add(tensor.name())) {
                throw bad(file, tensor, "occurs twice");
            }
            WeightType type = type(file, tensor);
            long length = length(file, tensor, type);
            long offset = tensor.offset();
            if (offset < 0 || offset % alignment != 0) {
                throw bad(
                        file,
                        tensor,
                        "lies at offset " + Long.toUnsignedString(offset) + ", expected a multiple of the alignment "
                                + alignment);
            }
            if (offset < covered) {
                throw bad(
                        file,
                        tensor,
                        "begins at offset " + offset + ", inside '" + previous + "', which ends at " + covered);
            }
            if (offset > dataBytes || length > dataBytes - offset) {
                throw new CheckpointFault.Truncated(
                                file,
                                "tensor '" + tensor.name() + "'",
                                saturatingSum(dataStart, offset, length),
                                bytes.byteSize())
                        .exception();
            }
            if (offset > aligned(covered, alignment)) {
                throw new CheckpointFault.Uncovered(
                                file, "between '" + previous + "' and '" + tensor.name() + "'", offset - covered)
                        .exception();
            }
            covered = offset + length;
            previous = tensor.name();
            MemorySegment data = bytes.asSlice(dataStart + offset, length);
            tensors.add(new Tensor(tensor.name(), type, List.copyOf(tensor.shape()), data));
        }
        return List.copyOf(tensors);
    }

    private static long length(Path file, Description tensor, WeightType type) {
        try {
            long elements = 1;
            for (long size : tensor.shape()) {
                if (size < 0) {
                    throw bad(file, tensor, "has an axis of " + Long.toUnsignedString(size) + " values");
                }
                elements = Math.multiplyExact(elements, size);
            }
            if (type.isBlocked()
                    && (tensor.shape().isEmpty() || tensor.shape().getLast() % type.blockElements() != 0)) {
                throw bad(
                        file,
                        tensor,
                        "of type " + type.label() + " has shape " + tensor.shape()
                                + "; its rows must be whole blocks of " + type.blockElements());
            }
            return type.bytes(elements);
        } catch (ArithmeticException e) {
            throw bad(file, tensor, "has shape " + tensor.shape() + ", more bytes than a file can have");
        }
    }

    private static WeightType type(Path file, Description tensor) {
        return switch (tensor.type()) {
            case 0 -> WeightType.F32;
            case 1 -> WeightType.F16;
            case 2 -> WeightType.Q4_0;
            case 3 -> WeightType.Q4_1;
            case 6 -> WeightType.Q5_0;
            case 7 -> WeightType.Q5_1;
            case 8 -> WeightType.Q8_0;
            case 10 -> WeightType.Q2_K;
            case 11 -> WeightType.Q3_K;
            case 12 -> WeightType.Q4_K;
            case 13 -> WeightType.Q5_K;
            case 14 -> WeightType.Q6_K;
            case 24 -> WeightType.I8;
            case 25 -> WeightType.I16;
            case 26 -> WeightType.I32;
            case 27 -> WeightType.I64;
            case 28 -> WeightType.F64;
            case 30 -> WeightType.BF16;
            default ->
                throw new CheckpointFault.UnsupportedType(
                                file,
                                tensor.name(),
                                unsupportedName(tensor.type()),
                                "use a file quantised to Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or a k-quant, or F32, F16, BF16")
                        .exception();
        };
    }

    private static String unsupportedName(int type) {
        return switch (type) {
            case 4 -> "Q4_2";
            case 5 -> "Q4_3";
            case 9 -> "Q8_1";
            case 15 -> "Q8_K";
            case 16 -> "IQ2_XXS";
            case 17 -> "IQ2_XS";
            case 18 -> "IQ3_XXS";
            case 19 -> "IQ1_S";
            case 20 -> "IQ4_NL";
            case 21 -> "IQ3_S";
            case 22 -> "IQ2_S";
            case 23 -> "IQ4_XS";
            case 29 -> "IQ1_M";
            case 31 -> "Q4_0_4_4";
            case 32 -> "Q4_0_4_8";
            case 33 -> "Q4_0_8_8";
            case 34 -> "TQ1_0";
            case 35 -> "TQ2_0";
            case 39 -> "MXFP4";
            case 40 -> "NVFP4";
            case 41 -> "Q1_0";
            default -> "number " + Integer.toUnsignedString(type);
        };
    }

    private static long aligned(long position, long alignment) {
        return Math.addExact(position, alignment - 1) & -alignment;
    }

    private static long saturatingSum(long a, long b, long c) {
        try {
            return Math.addExact(Math.addExact(a, b), c);
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    private static CheckpointException bad(Path file, Description tensor, String reason) {
        return new CheckpointFault.BadTensor(file, tensor.name(), reason).exception();
    }
}
