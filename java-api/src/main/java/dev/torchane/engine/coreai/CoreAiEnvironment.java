package dev.torchane.engine.coreai;

import dev.torchane.cache.CacheRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The CPython that has {@code coreai-core}: the one that {@value #PROPERTY} or the environment variable {@value #VARIABLE} names, or
 * that of the environment which {@code ./torch-ane venv --coreai} makes.
 */
public final class CoreAiEnvironment {

    /** System property that names a CPython. */
    public static final String PROPERTY = "torchane.coreai.python";

    /** Environment variable that names a CPython. */
    public static final String VARIABLE = "TORCH_ANE_COREAI_PYTHON";

    /** The version of {@code coreai-core} that texts are written for: its compiler's interface changes between versions. */
    public static final String VERSION = "1.0.0b3";

    private CoreAiEnvironment() {}

    /** Where {@code venv --coreai} makes its environment. */
    public static Path home() {
        return CacheRoot.locate().resolve("coreai-" + VERSION);
    }

    /** The CPython, if there is one. */
    public static Optional<Path> python() {
        return named().or(() -> Optional.of(home().resolve("bin/python"))).filter(Files::isExecutable);
    }

    private static Optional<Path> named() {
        String name = System.getProperty(PROPERTY, System.getenv().getOrDefault(VARIABLE, ""));
        return name.isBlank() ? Optional.empty() : Optional.of(Path.of(name));
    }

    /** What to do where there is none. */
    static String advice() {
        return named().map(path -> path + " is no CPython that can be started: set " + VARIABLE + " or -D" + PROPERTY
                        + " to one that has coreai-core " + VERSION)
                .orElse("Core AI needs a CPython 3.11 to 3.14 with coreai-core " + VERSION
                        + ": ./torch-ane venv --coreai makes it an environment, or name one by " + VARIABLE + " or -D"
                        + PROPERTY);
    }
}
