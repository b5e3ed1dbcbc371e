package dev.torchane.venv;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/** Brings bytes of an address into a file, again and again until they are all there, going on where it was left. */
final class Fetcher {

    private static final int TRIES = 5;

    private final Http http;
    private final Duration pause;

    Fetcher(Http http, Patience patience) {
        this.http = http;
        this.pause = patience.pause();
    }

    /** The server answers a request for a part of a file with the whole file. */
    static final class RangesRefused extends IOException {

        private static final long serialVersionUID = 1L;

        RangesRefused(URI uri) {
            super(Http.shown(uri) + " does not answer range requests");
        }
    }

    /** A short piece, in memory. */
    ByteBuffer piece(URI uri, long from, int length) throws IOException {
        return repeated(uri, () -> {
            try (Http.Reply reply = http.getRange(uri, from, from + length)) {
                checkRange(uri, reply, from);
                byte[] bytes = reply.body().readNBytes(length);
                if (bytes.length < length) {
                    throw new EOFException(Http.shown(uri) + " ended early");
                }
                return ByteBuffer.wrap(bytes);
            }
        });
    }

    /**
     * The whole of an address, {@code size} bytes, into {@code part}; what {@code part} holds already is kept if the
     * server can go on from there.
     */
    void whole(URI uri, long size, Path part, Meter meter) throws IOException {
        meter.add(heldBy(part, size));
        repeated(uri, () -> {
            long held = Files.exists(part) ? Files.size(part) : 0;
            if (held == size) {
                return part;
            }
            try (Http.Reply reply = held == 0 ? http.get(uri, "*/*") : http.getRange(uri, held, -1)) {
                checkOk(uri, reply);
                boolean goesOn = reply.status() == 206 && reply.rangeStart().orElse(-1) == held;
                if (held > 0 && !goesOn) {
                    meter.add(-held);
                }
                append(uri, reply.body(), part, goesOn ? held : 0, size, meter);
            }
            return part;
        });
    }

    /** The bytes from {@code from} on, {@code size} of them, into {@code part}, keeping what it holds. */
    void range(URI uri, long from, long size, Path part, Meter meter) throws IOException {
        meter.add(heldBy(part, size));
        repeated(uri, () -> {
            long held = Files.exists(part) ? Files.size(part) : 0;
            if (held == size) {
                return part;
            }
            try (Http.Reply reply = http.getRange(uri, from + held, from + size)) {
                checkRange(uri, reply, from + held);
                append(uri, reply.body(), part, held, size, meter);
            }
            return part;
        });
    }

    private static long heldBy(Path part, long size) throws IOException {
        long held = Files.exists(part) ? Files.size(part) : 0;
        if (held > size) {
            Files.delete(part);
            return 0;
        }
        return held;
    }

    private static void append(URI uri, InputStream in, Path part, long held, long size, Meter meter)
            throws IOException {
        var mode = held == 0 ? StandardOpenOption.TRUNCATE_EXISTING : StandardOpenOption.APPEND;
        try (OutputStream out =
                Files.newOutputStream(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE, mode)) {
            byte[] buffer = new byte[1 << 16];
            long left = size - held;
            while (left > 0) {
                int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (read < 0) {
                    throw new EOFException("%s ended %d bytes early".formatted(Http.shown(uri), left));
                }
                try {
                    out.write(buffer, 0, read);
                } catch (IOException e) {
                    throw VenvException.disk(part, e);
                }
                left -= read;
                meter.add(read);
            }
        }
    }

    private static void checkRange(URI uri, Http.Reply reply, long from) throws IOException {
        if (reply.status() == 200) {
            throw new RangesRefused(uri);
        }
        checkOk(uri, reply);
        if (reply.rangeStart().orElse(-1) != from) {
            throw new RangesRefused(uri);
        }
    }

    private static void checkOk(URI uri, Http.Reply reply) throws IOException {
        if (reply.isTransient()) {
            throw new IOException("%s answered %d".formatted(Http.shown(uri), reply.status()));
        }
        if (!reply.isOk()) {
            throw new VenvException("%s answered %d, expected 200 or 206".formatted(Http.shown(uri), reply.status()));
        }
    }

    private interface Attempt<T> {

        T run() throws IOException;
    }

    private <T> T repeated(URI uri, Attempt<T> attempt) throws IOException {
        for (int tried = 1; ; tried++) {
            try {
                return attempt.run();
            } catch (RangesRefused | InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                if (tried == TRIES) {
                    throw new VenvException(
                            "%s could not be fetched after %d attempts: %s. What has arrived is kept: try again"
                                    .formatted(Http.shown(uri), TRIES, e),
                            e);
                }
                sleep(pause.multipliedBy(1L << (tried - 1)));
            }
        }
    }

    private static void sleep(Duration time) throws IOException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting to try again");
        }
    }
}
