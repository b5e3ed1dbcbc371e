package dev.torchane.cli.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.torchane.TorchAneException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A child process that has a model loaded and answers requests, a line of JSON each; between requests it is idle. */
final class Worker implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Contender contender;
    private final Process process;
    private final BufferedReader in;
    private final Writer out;
    private final String version;

    /**
     * Starts the process and waits until its model is loaded.
     *
     * @param log receives what it writes to standard error
     * @throws TorchAneException when it does not start; names the log
     */
    Worker(Contender contender, Path log) {
        this.contender = contender;
        try {
            this.process = new ProcessBuilder(contender.command())
                    .redirectError(ProcessBuilder.Redirect.to(log.toFile()))
                    .start();
        } catch (IOException failure) {
            throw new TorchAneException(contender.name() + " does not start: " + failure.getMessage(), failure);
        }
        this.in = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.out = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        try {
            this.version = receive(log).path("ready").asText(contender.name());
        } catch (TorchAneException failure) {
            close();
            throw failure;
        }
    }

    /** Name and version of what runs there. */
    String version() {
        return version;
    }

    /**
     * Does one piece of work.
     *
     * @return the figure in the work's unit
     * @throws TorchAneException when the worker says that it cannot, or has ended
     */
    double measure(Work work, JsonNode request) {
        try {
            out.write(JSON.writeValueAsString(request));
            out.write('\n');
            out.flush();
        } catch (IOException failure) {
            throw new TorchAneException(contender.name() + " has ended", failure);
        }
        JsonNode answer = receive(Path.of("its log"));
        if (answer.has("error")) {
            throw new TorchAneException(answer.get("error").asText());
        }
        return work.figure(
                answer.path("tokens").asLong(), answer.path("seconds").asDouble());
    }

    private JsonNode receive(Path log) {
        try {
            String line = in.readLine();
            if (line == null) {
                throw new TorchAneException(contender.name() + " has ended; " + log + " says why");
            }
            return JSON.readTree(line);
        } catch (JsonProcessingException failure) {
            throw new TorchAneException(contender.name() + " answered no JSON: " + failure.getMessage(), failure);
        } catch (IOException failure) {
            throw new TorchAneException(contender.name() + " cannot be read: " + failure.getMessage(), failure);
        }
    }

    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException alreadyGone) {
            // a process that has ended has no input to close
        }
        process.destroy();
    }
}
