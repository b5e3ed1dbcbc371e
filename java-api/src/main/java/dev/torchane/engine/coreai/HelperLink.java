package dev.torchane.engine.coreai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The one process that all programs share. It starts at the first request; when it ended it is started again, once, and whoever had
 * something in it (see {@link #generation}) brings it again. It ends with the last program.
 */
final class HelperLink {

    private static final Duration START = Duration.ofSeconds(120);
    private static final String SCRIPT = "coreai_helper.py";
    private static final Map<Path, HelperLink> LINKS = new HashMap<>();

    private final Function<Path, List<String>> command;
    private final Consumer<JsonNode> greeting;
    private final Duration patience = Duration.ofSeconds(Integer.getInteger("torchane.coreai.timeout", 1800));
    private Optional<HelperProcess> process = Optional.empty();
    private Path folder = Path.of("");
    private String runtime = "";
    private int generation;
    private int users;
    private long numbers;

    /**
     * @param command the process's command, given the folder for its files
     * @param greeting looks at what a process says of itself, and refuses it by throwing
     */
    HelperLink(Function<Path, List<String>> command, Consumer<JsonNode> greeting) {
        this.command = command;
        this.greeting = greeting;
    }

    /** The link to a CPython's process, for one more program; {@link #release} gives it back. */
    static HelperLink acquire(Path python) {
        synchronized (LINKS) {
            HelperLink link = LINKS.computeIfAbsent(
                    python, path -> new HelperLink(at -> script(path, at), HelperLink::sameVersion));
            link.use();
            return link;
        }
    }

    private static List<String> script(Path python, Path folder) {
        Path script = folder.resolve(SCRIPT);
        try (InputStream source = HelperLink.class.getResourceAsStream(SCRIPT)) {
            if (source == null) {
                throw new IllegalStateException(SCRIPT + " is not beside " + HelperLink.class.getName());
            }
            Files.write(script, source.readAllBytes());
        } catch (IOException e) {
            throw new TorchAneException("cannot write " + script + ": " + e, e);
        }
        return List.of(python.toString(), "-X", "utf8", script.toString());
    }

    private static void sameVersion(JsonNode hello) {
        String version = hello.path("version").asText();
        if (!version.equals(CoreAiEnvironment.VERSION)) {
            throw new TorchAneException(
                    "the CPython for Core AI has coreai-core " + version + "; texts are written for "
                            + CoreAiEnvironment.VERSION + ": install that one, or let ./torch-ane venv --coreai do it");
        }
    }

    synchronized void use() {
        users++;
    }

    /** Says that one program less uses it; the last one ends the process. */
    void release() {
        synchronized (LINKS) {
            synchronized (this) {
                if (--users > 0) {
                    return;
                }
                LINKS.values().remove(this);
                process.ifPresent(HelperProcess::close);
                process = Optional.empty();
                delete(folder);
            }
        }
    }

    private static void delete(Path folder) {
        if (folder.toString().isEmpty()) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            // What is left in the system's folder for temporary files is the system's.
        }
    }

    /** A number that names something in the process. */
    synchronized long number() {
        return ++numbers;
    }

    /** A file beside the process's own. */
    synchronized Path file(String name) {
        folder();
        return folder.resolve(name);
    }

    private void folder() {
        if (!folder.toString().isEmpty()) {
            return;
        }
        try {
            folder = Files.createTempDirectory("torch-ane-coreai-");
        } catch (IOException e) {
            throw new TorchAneException("cannot make a folder for Core AI's files: " + e, e);
        }
    }

    /**
     * Which process this is, counted from 1: what an earlier one had been given is gone. Starts one where none runs.
     *
     * @throws CoreAiException when it ended before and was started again already
     */
    synchronized int generation() {
        if (process.map(HelperProcess::alive).orElse(false)) {
            return generation;
        }
        if (generation > 1) {
            throw new CoreAiException("the process that runs Core AI ended twice; close what uses it and load again. "
                    + "Its log: " + log());
        }
        process.ifPresent(HelperProcess::close);
        process = Optional.empty();
        folder();
        generation++;
        HelperProcess started = new HelperProcess(command.apply(folder), log());
        try {
            JsonNode hello = started.call("{\"op\":\"hello\"}", START);
            greeting.accept(hello);
            runtime = hello.path("runtime").asText();
        } catch (RuntimeException e) {
            started.close();
            throw e;
        }
        process = Optional.of(started);
        return generation;
    }

    private Path log() {
        return folder.resolve("log-" + generation + ".txt");
    }

    /** Sends a request to the process of the present generation, which {@link #generation} started. */
    synchronized JsonNode call(String request) {
        return process.orElseThrow(() -> new IllegalStateException("no process was started"))
                .call(request, patience);
    }

    /** What runs programs there, for people; known once a process was started. */
    synchronized String runtime() {
        return runtime;
    }

    /** Whether that is Apple's runtime, which has a choice of hardware. */
    synchronized boolean onAppleHardware() {
        return runtime.equals("Core AI");
    }

    /** The process, if there is one. */
    synchronized Optional<ProcessHandle> handle() {
        return process.map(HelperProcess::handle);
    }
}
