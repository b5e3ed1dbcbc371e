package dev.torchane.venv;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Held while a cache is changed, against other threads and other processes; the system frees it when a process dies. */
final class InstallLock implements AutoCloseable {

    private static final long PAUSE_MILLIS = 50;

    private final FileChannel channel;

    private InstallLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Waits for the lock; {@code waiting} runs once if it is not free at once. */
    static InstallLock acquire(Path file, Runnable waiting) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (tryLock(channel) == null) {
                waiting.run();
                while (tryLock(channel) == null) {
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
            return new InstallLock(channel);
        } catch (InterruptedException e) {
            channel.close();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while another installation was running");
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
