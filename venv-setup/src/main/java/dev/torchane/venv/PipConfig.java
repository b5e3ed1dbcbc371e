package dev.torchane.venv;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What pip is configured to, read as pip reads it: the files for all users, then the user's, then the one that
 * {@code PIP_CONFIG_FILE} names, then {@code PIP_*} variables, later ones winning. Of each file the sections
 * {@code global} and {@code install} count.
 */
final class PipConfig {

    private final Map<String, String> settings;

    private PipConfig(Map<String, String> settings) {
        this.settings = settings;
    }

    static PipConfig of(Surroundings here) {
        var settings = new HashMap<String, String>();
        for (Path file : files(here)) {
            if (Files.isRegularFile(file)) {
                settings.putAll(parse(file));
            }
        }
        here.environment().forEach((name, value) -> {
            if (name.startsWith("PIP_") && !value.isBlank()) {
                settings.put(key(name.substring("PIP_".length())), value.strip());
            }
        });
        return new PipConfig(settings);
    }

    /** The index, with its trailing slash; {@code pipsDefault} is asked only when nothing is configured. */
    List<String> indexes(Supplier<String> pipsDefault) {
        if (isOn("no-index")) {
            return List.of();
        }
        var indexes = new ArrayList<String>();
        indexes.add(Optional.ofNullable(settings.get("index-url")).orElseGet(pipsDefault));
        indexes.addAll(words("extra-index-url"));
        return indexes.stream().map(url -> url.endsWith("/") ? url : url + "/").toList();
    }

    /** Directories or pages that list wheels. */
    List<String> findLinks() {
        return words("find-links");
    }

    /** A PEM bundle that pip trusts instead of the system's. */
    Optional<Path> certificates() {
        return Optional.ofNullable(settings.get("cert")).map(Path::of);
    }

    /** The proxy, for every scheme. */
    Optional<String> proxy() {
        return Optional.ofNullable(settings.get("proxy"));
    }

    private List<String> words(String key) {
        String value = settings.getOrDefault(key, "").strip();
        return value.isEmpty() ? List.of() : List.of(value.split("\\s+"));
    }

    private boolean isOn(String key) {
        return List.of("1", "true", "yes", "on", "y", "t")
                .contains(settings.getOrDefault(key, "").toLowerCase(Locale.ROOT));
    }

    private static List<Path> files(Surroundings here) {
        Optional<String> named = here.variable("PIP_CONFIG_FILE");
        if (named.isPresent() && named.get().equals("/dev/null")) {
            return List.of();
        }
        var files = new ArrayList<Path>();
        Path home = here.userHome();
        Path config = here.variable("XDG_CONFIG_HOME").map(Path::of).orElse(home.resolve(".config"));
        if (here.isMac()) {
            files.add(Path.of("/Library/Application Support/pip/pip.conf"));
        } else {
            for (String dir :
                    here.variable("XDG_CONFIG_DIRS").orElse("/etc/xdg").split(":")) {
                files.add(Path.of(dir).resolve("pip").resolve("pip.conf"));
            }
            files.add(Path.of("/etc/pip.conf"));
        }
        files.add(home.resolve(".pip").resolve("pip.conf"));
        Path library = home.resolve("Library/Application Support/pip");
        boolean inLibrary = here.isMac() && Files.isDirectory(library);
        files.add((inLibrary ? library : config.resolve("pip")).resolve("pip.conf"));
        named.map(Path::of).ifPresent(files::add);
        return files;
    }

    private static Map<String, String> parse(Path file) {
        try {
            return parse(Files.readAllLines(file), file.toString());
        } catch (IOException e) {
            throw new VenvException("pip's configuration %s could not be read: %s".formatted(file, e), e);
        }
    }

    /** The settings of {@code [global]}, overridden by those of {@code [install]}. */
    static Map<String, String> parse(List<String> lines, String name) {
        var sections = new HashMap<String, Map<String, String>>();
        Map<String, String> section = new HashMap<>();
        String last = null;
        int number = 0;
        for (String line : lines) {
            number++;
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#") || text.startsWith(";")) {
                continue;
            }
            if (text.startsWith("[") && text.endsWith("]")) {
                section = sections.computeIfAbsent(
                        text.substring(1, text.length() - 1).strip(), s -> new HashMap<>());
                last = null;
            } else if (Character.isWhitespace(line.charAt(0)) && last != null) {
                section.merge(last, text, (before, more) -> (before + "\n" + more).strip());
            } else {
                int split = text.indexOf(separator(text));
                if (split < 0) {
                    throw new VenvException("pip's configuration %s, line %d: expected \"key = value\", found \"%s\""
                            .formatted(name, number, text));
                }
                last = key(text.substring(0, split));
                section.put(last, text.substring(split + 1).strip());
            }
        }
        var settings = new HashMap<>(sections.getOrDefault("global", Map.of()));
        settings.putAll(sections.getOrDefault("install", Map.of()));
        settings.values().removeIf(String::isEmpty);
        return settings;
    }

    private static char separator(String text) {
        int equals = text.indexOf('=');
        int colon = text.indexOf(':');
        return colon >= 0 && (equals < 0 || colon < equals) ? ':' : '=';
    }

    private static String key(String written) {
        String key = written.strip().toLowerCase(Locale.ROOT).replace('_', '-');
        return key.startsWith("--") ? key.substring(2) : key;
    }
}
