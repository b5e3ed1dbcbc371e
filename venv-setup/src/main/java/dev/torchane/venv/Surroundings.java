package dev.torchane.venv;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The machine as the installer sees it; tests make up their own.
 *
 * @param environment environment variables
 * @param userHome the user's home directory
 * @param platform what is run on
 */
record Surroundings(Map<String, String> environment, Path userHome, Platform platform) {

    static Surroundings current() {
        return new Surroundings(System.getenv(), Path.of(System.getProperty("user.home")), Platform.current());
    }

    /** An environment variable that is set to something. */
    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    boolean isMac() {
        return platform.tag().startsWith("macosx");
    }
}
