package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/**
 * Writes a weight file blob by blob, in MIL blob storage version 2; nothing is held in memory. {@link #finish} makes it
 * whole and durable; a writer that is closed without it leaves a file that no reader accepts.
 */
public final class WeightFileWriter implements AutoCloseable {

    private static final int TILE = 1 << 24;

    private final Path file;
    private final FileChannel channel;
    private long position = BlobFormat.ALIGNMENT;
    private int count;
    private boolean finished;
    private boolean broken;

    private WeightFileWriter(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Creates the file, or replaces it.
     *
     * @throws TorchAneException when it cannot be written
     */
    public static WeightFileWriter create(Path file) {
        try {
            FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
            return new WeightFileWriter(file, channel);
        } catch (IOException e) {
            throw new TorchAneException("cannot create the weight file " + file + ": " + e, e);
        }
    }

    /** Appends a tensor that lies in memory whole; returns the offset a program names it by. */
    public long append(TensorType type, MemorySegment data) {
        long bytes = type.bytes();
        long used = Math.multiplyExact(type.elements(), (long) type.dtype().bits());
        return append(type.dtype(), bytes, bytes * 8 - used, sink -> sink.accept(data));
    }

    /** Appends {@code bytes} bytes of densely packed elements that lie in memory whole. */
    public long append(DType dtype, long bytes, MemorySegment data) {
        return append(dtype, bytes, 0, sink -> sink.accept(data));
    }

    /**
     * Appends {@code bytes} bytes that come in tiles.
     *
     * @param source hands tiles to the consumer it is given, in order, together exactly {@code bytes}
     * @return the offset a program names the blob by
     * @throws IllegalArgumentException when the format has no such element type, or the tiles do not sum up
     * @throws TorchAneException when the file cannot be written, as when the disk is full
     */
    public long append(DType dtype, long bytes, Consumer<Consumer<MemorySegment>> source) {
        return append(dtype, bytes, 0, source);
    }

    private long append(DType dtype, long bytes, long paddingBits, Consumer<Consumer<MemorySegment>> source) {
        if (finished || broken || !channel.isOpen()) {
            throw new IllegalStateException("the weight file " + file + " is "
                    + (broken ? "broken by an earlier error" : "finished") + "; nothing can be appended");
        }
        int code = BlobFormat.code(dtype)
                .orElseThrow(() ->
                        new IllegalArgumentException("a weight file cannot hold elements of type " + dtype.mil()));
        if (bytes < 0) {
            throw new IllegalArgumentException("a blob cannot have " + bytes + " bytes");
        }
        long record = BlobFormat.align(position);
        long data = record + BlobFormat.ALIGNMENT;
        broken = true;
        ByteBuffer metadata = ByteBuffer.allocate(BlobFormat.ALIGNMENT).order(ByteOrder.LITTLE_ENDIAN);
        metadata.putInt(BlobFormat.SENTINEL)
                .putInt(code)
                .putLong(bytes)
                .putLong(data)
                .putLong(paddingBits);
        write(metadata.rewind(), record);
        long[] written = {0};
        source.accept(tile -> {
            if (tile.byteSize() > bytes - written[0]) {
                throw new IllegalArgumentException("a blob of " + bytes + " bytes was given at least "
                        + (written[0] + tile.byteSize()) + " bytes");
            }
            write(tile, data + written[0]);
            written[0] += tile.byteSize();
        });
        if (written[0] != bytes) {
            throw new IllegalArgumentException("a blob of " + bytes + " bytes was given only " + written[0]);
        }
        position = data + bytes;
        count++;
        broken = false;
        return record;
    }

    private void write(MemorySegment tile, long offset) {
        for (long done = 0; done < tile.byteSize(); done += TILE) {
            long size = Math.min(TILE, tile.byteSize() - done);
            write(bytes(tile.asSlice(done, size)), offset + done);
        }
    }

    /** A view of native memory or a byte array; other arrays are copied, since a channel cannot write them. */
    private static ByteBuffer bytes(MemorySegment tile) {
        if (tile.isNative() || tile.heapBase().orElse(null) instanceof byte[]) {
            return tile.asByteBuffer();
        }
        return ByteBuffer.wrap(tile.toArray(ValueLayout.JAVA_BYTE));
    }

    private void write(ByteBuffer bytes, long offset) {
        try {
            long at = offset;
            while (bytes.hasRemaining()) {
                at += channel.write(bytes, at);
            }
        } catch (IOException e) {
            throw new TorchAneException(
                    "cannot write the weight file " + file + " at byte " + offset + ": " + e.getMessage()
                            + "; is there room on the disk?",
                    e);
        }
    }

    /** Bytes so far. */
    public long size() {
        return position;
    }

    /** Writes the header and forces everything to the disk. Further calls do nothing. */
    public void finish() {
        if (finished) {
            return;
        }
        if (broken || !channel.isOpen()) {
            throw new IllegalStateException("the weight file " + file + " is broken or closed and cannot be finished");
        }
        ByteBuffer header = ByteBuffer.allocate(BlobFormat.ALIGNMENT).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(count).putInt(BlobFormat.VERSION);
        write(header.rewind(), 0);
        try {
            channel.force(true);
        } catch (IOException e) {
            throw new TorchAneException("cannot force the weight file " + file + " to the disk: " + e.getMessage(), e);
        }
        finished = true;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new TorchAneException("cannot close the weight file " + file + ": " + e.getMessage(), e);
        }
    }
}
