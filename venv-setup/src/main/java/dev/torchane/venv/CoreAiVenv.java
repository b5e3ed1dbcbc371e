package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes the environment in which Core AI's compiler and runtime are: a CPython's own {@code venv} with {@code coreai-core}, which pip
 * brings from the index that it is configured to. Complete or absent: made in a temporary sibling and renamed.
 */
public final class CoreAiVenv {

    private static final int OLDEST = 11;
    private static final int NEWEST = 14;
    private static final String ASK =
            "import sys; print(sys.implementation.name, sys.version_info[0], sys.version_info[1])";

    private final List<Path> path;

    CoreAiVenv(List<Path> path) {
        this.path = path;
    }

    /** One that looks for a CPython on {@code PATH}. */
    public static CoreAiVenv standard() {
        List<Path> folders = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(java.io.File.pathSeparator)) {
            if (!folder.isBlank()) {
                folders.add(Path.of(folder));
            }
        }
        return new CoreAiVenv(folders);
    }

    /**
     * Makes sure that the environment is complete; does nothing when it is.
     *
     * @param home where it is to be
     * @param version of {@code coreai-core}
     * @param named a CPython; one on {@code PATH} where it is empty
     * @return its CPython
     * @throws VenvException when there is no CPython of a version that it has wheels for, or pip refuses
     */
    public Path install(Path home, String version, Optional<Path> named, InstallProgress progress) {
        Path python = home.resolve("bin/python");
        if (Files.isExecutable(python)) {
            return python;
        }
        Path base = named.map(CoreAiVenv::checked).orElseGet(this::find);
        Path made = home.resolveSibling(
                home.getFileName() + ".making-" + ProcessHandle.current().pid());
        try {
            Files.createDirectories(home.toAbsolutePath().getParent());
            delete(made);
            progress.stage("make an environment of " + base, 0, "");
            run(List.of(base.toString(), "-m", "venv", made.toString()), "venv");
            progress.stage("install coreai-core " + version, 0, "");
            Path inside = made.resolve("bin/python");
            run(
                    List.of(
                            inside.toString(),
                            "-m",
                            "pip",
                            "install",
                            "--disable-pip-version-check",
                            "--only-binary",
                            ":all:",
                            "coreai-core==" + version),
                    "pip");
            run(List.of(inside.toString(), "-c", "import coreai.runtime, coreai.authoring"), "coreai-core");
            Files.move(made, home);
            return python;
        } catch (IOException e) {
            throw VenvException.disk(home, e);
        } finally {
            delete(made);
        }
    }

    private Path find() {
        for (int minor = NEWEST; minor >= OLDEST; minor--) {
            Optional<Path> found = onPath("python3." + minor);
            if (found.isPresent()) {
                return found.get();
            }
        }
        return onPath("python3")
                .orElseThrow(() -> new VenvException(
                        "Core AI needs a CPython 3.%d to 3.%d, and there is none on PATH: install one, or name one with --python"
                                .formatted(OLDEST, NEWEST)));
    }

    /** The first that works: what version managers put on PATH may start nothing. */
    private Optional<Path> onPath(String name) {
        return path.stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::isExecutable)
                .filter(file -> refusal(file).isEmpty())
                .findFirst();
    }

    private static Path checked(Path python) {
        refusal(python).ifPresent(reason -> {
            throw new VenvException(reason);
        });
        return python;
    }

    /** Why a file is no CPython for this; empty where it is one. */
    private static Optional<String> refusal(Path python) {
        String wanted = "; Core AI needs a CPython 3.%d to 3.%d".formatted(OLDEST, NEWEST);
        String[] said;
        try {
            said = run(List.of(python.toString(), "-c", ASK), python.toString())
                    .strip()
                    .split(" ");
        } catch (VenvException e) {
            return Optional.of(e.getMessage() + wanted);
        }
        boolean fits = said.length == 3
                && said[0].equals("cpython")
                && said[1].equals("3")
                && said[2].matches("\\d{1,3}")
                && Integer.parseInt(said[2]) >= OLDEST
                && Integer.parseInt(said[2]) <= NEWEST;
        return fits ? Optional.empty() : Optional.of(python + " is " + String.join(" ", said) + wanted);
    }

    private static String run(List<String> command, String what) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output;
            try (InputStream from = process.getInputStream()) {
                output = new String(from.readAllBytes(), StandardCharsets.UTF_8);
            }
            int status = process.waitFor();
            if (status != 0) {
                throw new VenvException(what + " ended with status " + status + ": " + output.strip());
            }
            return output;
        } catch (IOException e) {
            throw new VenvException("cannot start " + command.getFirst() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VenvException("interrupted while " + what + " ran", e);
        }
    }

    private static void delete(Path folder) {
        try {
            Layout.delete(folder);
        } catch (IOException e) {
            throw VenvException.disk(folder, e);
        }
    }
}
