package dev.torchane.host;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/** Elements of less than a byte, as MIL's weight files hold them: dense, the first element in the lowest bits. */
final class Packed {

    /** Elements packed by one task; a multiple of 8, so that each begins at a byte of its own. */
    private static final long TASK = 1 << 16;

    private Packed() {}

    static MemorySegment allocate(long bytes, Arena arena) {
        return arena.allocate(Math.max(1, bytes), 64).asSlice(0, bytes);
    }

    /**
     * Packs elements of which each has a byte.
     *
     * @param elements one byte for each, of which the lowest {@code bits} count
     */
    static MemorySegment pack(MemorySegment elements, int bits, Arena arena) {
        long count = elements.byteSize();
        MemorySegment packed = allocate(Math.ceilDiv(count * bits, 8), arena);
        LongStream.range(0, Math.ceilDiv(count, TASK))
                .parallel()
                .forEach(task -> pack(elements, bits, packed, task * TASK, Math.min(count, (task + 1) * TASK)));
        return packed;
    }

    private static void pack(MemorySegment elements, int bits, MemorySegment packed, long from, long to) {
        int mask = (1 << bits) - 1;
        int held = 0;
        int count = 0;
        long at = from * bits / 8;
        for (long i = from; i < to; i++) {
            held |= (elements.get(JAVA_BYTE, i) & mask) << count;
            count += bits;
            while (count >= 8) {
                packed.set(JAVA_BYTE, at++, (byte) held);
                held >>>= 8;
                count -= 8;
            }
        }
        if (count > 0) {
            packed.set(JAVA_BYTE, at, (byte) held);
        }
    }
}
