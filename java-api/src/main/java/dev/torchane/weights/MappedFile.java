package dev.torchane.weights;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A whole file in memory.
 *
 * @param bytes the file's bytes; alive as long as the arena it was mapped into
 */
record MappedFile(Path file, MemorySegment bytes) {

    static MappedFile map(Path file, Checkpoint.Access access, Arena arena) {
        try {
            if (access == Checkpoint.Access.READ_ONLY) {
                return read(file, arena);
            }
            return copyOnWrite(file, arena);
        } catch (NoSuchFileException e) {
            throw new CheckpointFault.Unreadable(file, "no such file").exception(e);
        } catch (IOException e) {
            throw new CheckpointFault.Unreadable(file, e.toString()).exception(e);
        }
    }

    private static MappedFile read(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return new MappedFile(file, channel.map(MapMode.READ_ONLY, 0, channel.size(), arena));
        }
    }

    private static MappedFile copyOnWrite(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new MappedFile(file, channel.map(MapMode.PRIVATE, 0, channel.size(), arena));
        } catch (AccessDeniedException e) {
            return copied(file, arena);
        } catch (java.nio.file.FileSystemException e) {
            // A read-only file system: the JDK maps privately only what it may also write.
            if (Files.isReadable(file)) {
                return copied(file, arena);
            }
            throw e;
        }
    }

    private static MappedFile copied(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment bytes = arena.allocate(channel.size(), 64);
            long done = 0;
            while (done < bytes.byteSize()) {
                long piece = Math.min(bytes.byteSize() - done, 1 << 28);
                ByteBuffer buffer = bytes.asSlice(done, piece).asByteBuffer();
                int read = channel.read(buffer, done);
                if (read <= 0) {
                    throw new IOException("the file became shorter while it was read");
                }
                done += read;
            }
            return new MappedFile(file, bytes);
        }
    }
}
