package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * A weight file in MIL blob storage version 2, memory-mapped and never read whole. Opening checks every record; blobs are
 * views of the mapping, valid until {@link #close}.
 */
public final class WeightFile implements AutoCloseable {

    /**
     * A blob.
     *
     * @param dtype element type
     * @param data its bytes: a read-only view of the file, 64-byte aligned
     * @param paddingBits unused bits at the end of the last byte
     */
    public record Blob(DType dtype, MemorySegment data, int paddingBits) {}

    private final Path file;
    private final Arena arena;
    private final MemorySegment mapped;
    private final Map<Long, Blob> blobs;
    private volatile boolean closed;

    private WeightFile(Path file, Arena arena, MemorySegment mapped, Map<Long, Blob> blobs) {
        this.file = file;
        this.arena = arena;
        this.mapped = mapped;
        this.blobs = blobs;
    }

    /**
     * Maps and checks a file.
     *
     * @throws TorchAneException when it is missing, cut short or damaged; the message names file, offset, what was
     *     expected and found
     */
    public static WeightFile open(Path file) {
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return new WeightFile(file, arena, mapped, new Check(file, mapped).blobs());
        } catch (NoSuchFileException e) {
            arena.close();
            throw new TorchAneException("the weight file " + file + " is missing: build the model again", e);
        } catch (IOException e) {
            arena.close();
            throw new TorchAneException("cannot read the weight file " + file + ": " + e, e);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** Where it lies. */
    public Path file() {
        return file;
    }

    /** All blobs by the offset of their record, in the order of the file. */
    public Map<Long, Blob> blobs() {
        requireOpen();
        return Collections.unmodifiableMap(blobs);
    }

    /**
     * The blob at a record's offset.
     *
     * @throws TorchAneException when no record begins there
     */
    public Blob blob(long offset) {
        requireOpen();
        Blob blob = blobs.get(offset);
        if (blob == null) {
            throw new TorchAneException("weight file " + file + ": expected the record of a blob at offset " + offset
                    + ", found none; program and weights do not belong together, build the model again");
        }
        return blob;
    }

    /**
     * The bytes of the blob at a record's offset, which must hold exactly a type.
     *
     * @throws TorchAneException when there is no such blob, or one of another type or size
     */
    public MemorySegment data(long offset, TensorType type) {
        Blob blob = blob(offset);
        if (blob.dtype() != type.dtype() || blob.data().byteSize() != type.bytes()) {
            throw new TorchAneException("weight file " + file + ": expected " + type + " (" + type.bytes()
                    + " bytes) at offset " + offset + ", found " + blob.data().byteSize() + " bytes of "
                    + blob.dtype().mil() + "; program and weights do not belong together, build the model again");
        }
        return blob.data();
    }

    /**
     * Where in the file the bytes of the blob at a record's offset begin, for programs that map the file themselves.
     *
     * @throws TorchAneException when no record begins there
     */
    public long position(long offset) {
        blob(offset);
        return offset + BlobFormat.ALIGNMENT;
    }

    /** Reads the file into memory; what is read is dropped when memory is short. */
    public void prefetch() {
        requireOpen();
        mapped.load();
    }

    /** Gives the memory of the file's pages back; they are read again when they are next used. */
    public void forget() {
        requireOpen();
        mapped.unload();
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the weight file " + file + " is closed");
        }
    }

    /** Unmaps the file; views of it throw {@link IllegalStateException} from then on. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arena.close();
        }
    }

    /** The one place that decides whether bytes are a weight file. */
    private record Check(Path file, MemorySegment mapped) {

        Map<Long, Blob> blobs() {
            long size = mapped.byteSize();
            if (size < BlobFormat.ALIGNMENT) {
                throw damaged(0, "a header of 64 bytes", "a file of " + size + " bytes");
            }
            long count = Integer.toUnsignedLong(mapped.get(BlobFormat.U32, 0));
            int version = mapped.get(BlobFormat.U32, 4);
            if (version != BlobFormat.VERSION) {
                throw damaged(4, "version 2", "version " + version + " (a build that did not finish leaves 0)");
            }
            Map<Long, Blob> blobs = new TreeMap<>();
            long end = BlobFormat.ALIGNMENT;
            for (long i = 0; i < count; i++) {
                long record = BlobFormat.align(end);
                Blob blob = blob(record, "record " + i + " of " + count);
                blobs.put(record, blob);
                end = record + BlobFormat.ALIGNMENT + blob.data().byteSize();
            }
            return blobs;
        }

        private Blob blob(long record, String what) {
            long data = record + BlobFormat.ALIGNMENT;
            if (data > mapped.byteSize()) {
                throw damaged(record, what, "the end of the file at " + mapped.byteSize());
            }
            int sentinel = mapped.get(BlobFormat.U32, record);
            if (sentinel != BlobFormat.SENTINEL) {
                throw damaged(record, what + " with the mark 0xdeadbeef", "0x" + Integer.toHexString(sentinel));
            }
            int code = mapped.get(BlobFormat.U32, record + 4);
            DType dtype = BlobFormat.dtype(code)
                    .orElseThrow(() -> damaged(record + 4, "an element type from 1 to 15", Integer.toString(code)));
            long bytes = mapped.get(BlobFormat.U64, record + 8);
            long offset = mapped.get(BlobFormat.U64, record + 16);
            long padding = mapped.get(BlobFormat.U64, record + 24);
            if (offset != data) {
                throw damaged(record + 16, "the data at " + data, Long.toUnsignedString(offset));
            }
            if (bytes < 0 || bytes > mapped.byteSize() - data) {
                throw damaged(
                        record + 8,
                        "at most the " + (mapped.byteSize() - data) + " bytes that follow",
                        Long.toUnsignedString(bytes) + " bytes");
            }
            if (padding < 0 || padding > 7) {
                throw damaged(record + 24, "0 to 7 padding bits", Long.toUnsignedString(padding));
            }
            return new Blob(dtype, mapped.asSlice(data, bytes), (int) padding);
        }

        private TorchAneException damaged(long offset, String expected, String found) {
            return new TorchAneException("weight file " + file + " is damaged: expected " + expected + " at offset "
                    + offset + ", found " + found + "; build the model again");
        }
    }
}
