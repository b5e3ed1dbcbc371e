package dev.torchane.engine.coreai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * One process and the frames to and from it: four bytes of length, little-endian, then JSON; one answer for each request. A process
 * that does not answer in time, or answers what is no frame, is ended; after that every request fails. It ends itself when its
 * input does, so none outlives Java.
 */
final class HelperProcess implements AutoCloseable {

    private static final int MOST_BYTES = 1 << 26;
    private static final int LOG_TAIL = 4096;
    private static final int WATCH_MILLIS = 50;
    private static final int SPIN_NANOS = 60_000;
    private static final long NONE = Long.MIN_VALUE;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final Path log;
    private final OutputStream to;
    private final InputStream from;
    private final ScheduledExecutorService watch;
    private volatile String ended = "";
    private volatile long deadline = NONE;

    /**
     * Starts a process.
     *
     * @param log takes what it writes to its error output
     * @throws CoreAiException when it cannot be started
     */
    HelperProcess(List<String> command, Path log) {
        this.log = log;
        try {
            process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        } catch (IOException e) {
            throw new CoreAiException("cannot start " + command.getFirst() + ": " + e.getMessage(), e);
        }
        to = process.getOutputStream();
        from = process.getInputStream();
        watch = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("torch-ane-coreai-watch").factory());
        watch.scheduleAtFixedRate(this::watch, WATCH_MILLIS, WATCH_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** A file's name as JSON. */
    static String json(Path file) {
        return TextNode.valueOf(file.toString()).toString();
    }

    /** A task for each call would wake a thread for each. */
    private void watch() {
        long latest = deadline;
        if (latest != NONE && System.nanoTime() - latest > 0) {
            end("it did not answer in time");
        }
    }

    boolean alive() {
        return ended.isEmpty() && process.isAlive();
    }

    /** For tests: the process. */
    ProcessHandle handle() {
        return process.toHandle();
    }

    /**
     * Sends a request and waits for its answer.
     *
     * @param patience the process is ended when it takes longer
     * @throws CoreAiException when the process ended, was ended, or answered what is no answer
     * @throws TorchAneException when it answered that the request failed
     */
    synchronized JsonNode call(String request, Duration patience) {
        if (!ended.isEmpty()) {
            throw gone(null);
        }
        deadline = System.nanoTime() + patience.toNanos();
        JsonNode answer;
        try {
            send(request.getBytes(StandardCharsets.UTF_8));
            answer = JSON.readTree(receive());
        } catch (IOException e) {
            end("it ended or answered what is no frame (" + e.getMessage() + ")");
            throw gone(e);
        } finally {
            deadline = NONE;
        }
        if (answer == null || !answer.isObject()) {
            end("it answered what is no object");
            throw gone(null);
        }
        JsonNode error = answer.get("error");
        if (error != null) {
            throw new TorchAneException("Core AI refused: " + error.asText());
        }
        return answer;
    }

    private void send(byte[] body) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(4 + body.length).order(ByteOrder.LITTLE_ENDIAN);
        to.write(frame.putInt(body.length).put(body).array());
        to.flush();
    }

    private byte[] receive() throws IOException {
        // A wake-up takes longer than a small call.
        long until = System.nanoTime() + SPIN_NANOS;
        while (from.available() == 0 && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
        int length = ByteBuffer.wrap(exactly(4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (length < 2 || length > MOST_BYTES) {
            throw new IOException("a frame of " + Integer.toUnsignedString(length) + " bytes");
        }
        return exactly(length);
    }

    private byte[] exactly(int count) throws IOException {
        byte[] bytes = from.readNBytes(count);
        if (bytes.length < count) {
            throw new IOException("its output ended");
        }
        return bytes;
    }

    private void end(String reason) {
        if (ended.isEmpty()) {
            ended = reason;
        }
        process.destroyForcibly();
    }

    private CoreAiException gone(IOException cause) {
        String status = "";
        try {
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                status = "; exit status " + process.exitValue();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new CoreAiException("the process that runs Core AI is gone: " + ended + status + tail(), cause);
    }

    private String tail() {
        try {
            byte[] bytes = Files.readAllBytes(log);
            int first = Math.max(0, bytes.length - LOG_TAIL);
            String text = new String(bytes, first, bytes.length - first, StandardCharsets.UTF_8).strip();
            return text.isEmpty() ? "; it wrote nothing" : "; it wrote last:\n" + text;
        } catch (IOException e) {
            return "; its log " + log + " cannot be read";
        }
    }

    /** Ends the process: its input is closed, and what does not stop then is ended. Further calls do nothing. */
    @Override
    public void close() {
        if (ended.isEmpty()) {
            ended = "it was closed";
        }
        watch.shutdownNow();
        try {
            to.close();
            if (!process.waitFor(200, TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
