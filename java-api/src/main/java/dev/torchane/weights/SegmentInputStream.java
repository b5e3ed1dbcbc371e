package dev.torchane.weights;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A segment's bytes as a stream, so that a parser reads a mapped header without a copy of it. */
final class SegmentInputStream extends InputStream {

    private final MemorySegment segment;
    private long position;

    SegmentInputStream(MemorySegment segment) {
        this.segment = segment;
    }

    @Override
    public int read() {
        return position < segment.byteSize() ? segment.get(JAVA_BYTE, position++) & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, target.length);
        int count = (int) Math.min(length, segment.byteSize() - position);
        if (count <= 0) {
            return length == 0 ? 0 : -1;
        }
        MemorySegment.copy(segment, JAVA_BYTE, position, target, offset, count);
        position += count;
        return count;
    }
}
