package dev.torchane.venv;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/** A stream that is closed under its reader, who then gets an {@link IOException}, when nothing comes for too long. */
final class GuardedStream extends FilterInputStream {

    private final Thread guard;
    private volatile long heard = System.nanoTime();
    private volatile boolean reading;

    GuardedStream(InputStream in, Duration silence) {
        super(in);
        guard = Thread.ofVirtual().start(() -> watch(silence));
    }

    private void watch(Duration silence) {
        try {
            while (true) {
                Thread.sleep(silence.dividedBy(4));
                if (reading && System.nanoTime() - heard > silence.toNanos()) {
                    in.close();
                    return;
                }
            }
        } catch (InterruptedException | IOException e) {
            // closed: nothing is left to watch
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        heard = System.nanoTime();
        reading = true;
        try {
            return super.read(bytes, offset, length);
        } finally {
            reading = false;
        }
    }

    @Override
    public void close() throws IOException {
        guard.interrupt();
        super.close();
    }
}
