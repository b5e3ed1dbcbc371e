package dev.torchane.weights;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads GGUF's scalars, strings and arrays one after another; never beyond the file, never more than it holds. */
final class GgufCursor {

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int TYPE_STRING = 8;
    private static final int TYPE_ARRAY = 9;
    private static final int[] WIDTHS = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

    private final Path file;
    private final MemorySegment bytes;
    private long position;

    GgufCursor(Path file, MemorySegment bytes, long position) {
        this.file = file;
        this.bytes = bytes;
        this.position = position;
    }

    long position() {
        return position;
    }

    int int32(String what) {
        return bytes.get(INT, take(4, what));
    }

    long int64(String what) {
        return bytes.get(LONG, take(8, what));
    }

    /** A count of things that take at least {@code width} bytes each: more than the file can hold is refused here. */
    long count(long width, String what) {
        long count = int64(what);
        long remaining = bytes.byteSize() - position;
        if (count < 0 || count > remaining / width) {
            throw new CheckpointFault.BadHeader(
                            file,
                            what + " is " + Long.toUnsignedString(count) + ", the " + remaining
                                    + " bytes left in the file hold at most " + remaining / width)
                    .exception();
        }
        return count;
    }

    String string(String what) {
        long length = count(1, "the length of " + what);
        if (length > Integer.MAX_VALUE - 8) {
            throw new CheckpointFault.BadHeader(file, what + " is a string of " + length + " bytes").exception();
        }
        byte[] text = bytes.asSlice(take(length, what), length).toArray(JAVA_BYTE);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** A value of a metadata type. */
    Object value(int type, String key) {
        return switch (type) {
            case 0 -> bytes.get(JAVA_BYTE, take(1, key)) & 0xFFL;
            case 1 -> (long) bytes.get(JAVA_BYTE, take(1, key));
            case 2 -> bytes.get(SHORT, take(2, key)) & 0xFFFFL;
            case 3 -> (long) bytes.get(SHORT, take(2, key));
            case 4 -> bytes.get(INT, take(4, key)) & 0xFFFF_FFFFL;
            case 5 -> (long) bytes.get(INT, take(4, key));
            case 6 -> (double) bytes.get(FLOAT, take(4, key));
            case 7 -> bytes.get(JAVA_BYTE, take(1, key)) != 0;
            case TYPE_STRING -> string("'" + key + "'");
            case TYPE_ARRAY -> array(key);
            case 10, 11 -> bytes.get(LONG, take(8, key));
            case 12 -> bytes.get(DOUBLE, take(8, key));
            default -> throw unknownType(type, key);
        };
    }

    private List<Object> array(String key) {
        int type = int32("the type of '" + key + "'");
        if (type == TYPE_ARRAY || type < 0 || type >= WIDTHS.length) {
            throw unknownType(type, key);
        }
        int count = (int) Math.min(count(WIDTHS[type], "the size of '" + key + "'"), Integer.MAX_VALUE);
        List<Object> values = new ArrayList<>(Math.min(count, 1 << 16));
        for (int i = 0; i < count; i++) {
            values.add(value(type, key));
        }
        return values;
    }

    private CheckpointException unknownType(int type, String key) {
        return new CheckpointFault.BadHeader(
                        file, "'" + key + "' has value type " + type + ", expected 0 to 12 (arrays not nested)")
                .exception();
    }

    private long take(long length, String what) {
        if (length > bytes.byteSize() - position) {
            throw new CheckpointFault.Truncated(file, what, position + length, bytes.byteSize()).exception();
        }
        long start = position;
        position += length;
        return start;
    }
}
