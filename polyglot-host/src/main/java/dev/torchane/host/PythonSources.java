package dev.torchane.host;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The Python package {@code torch_ane}, which travels inside this jar. Python needs real files (and keeps their compiled
 * form beside them), so it is unpacked once for each content into the cache.
 */
final class PythonSources {

    /** Names the directory that contains {@code torch_ane}, for work on the sources themselves. */
    static final String OVERRIDE = "torchane.python.src";

    private static final String ROOT = "/dev/torchane/python/";
    private static final String PACKAGE = "torch_ane";
    private static final String MARKER = PACKAGE + "/__init__.py";

    private PythonSources() {}

    /** The directory to put on Python's path: the one that is named, or the unpacked one below {@code cache}. */
    static Path directory(Path cache) {
        return override().orElseGet(() -> unpack(cache));
    }

    /** The directory that {@value #OVERRIDE} names, if it is set. */
    static Optional<Path> override() {
        String named = System.getProperty(OVERRIDE);
        if (named == null) {
            return Optional.empty();
        }
        Path directory = Path.of(named);
        if (!Files.isDirectory(directory.resolve(PACKAGE))) {
            throw new TorchAneException(OVERRIDE + " is " + directory + ", which has no directory " + PACKAGE);
        }
        return Optional.of(directory);
    }

    static Path unpack(Path cache) {
        SortedMap<String, byte[]> files = packaged();
        Path target = cache.resolve("python-" + digest(files));
        if (Files.isDirectory(target)) {
            return target;
        }
        try {
            Files.createDirectories(cache);
            Path partial = Files.createTempDirectory(cache, "python-partial-");
            for (var file : files.entrySet()) {
                Path path = partial.resolve(file.getKey());
                Files.createDirectories(path.getParent());
                Files.write(path, file.getValue());
            }
            install(partial, target);
            return target;
        } catch (IOException e) {
            throw new TorchAneException(
                    "the Python sources cannot be unpacked into " + cache + ": " + e.getMessage(), e);
        }
    }

    private static void install(Path partial, Path target) throws IOException {
        try {
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            try (Stream<Path> paths = Files.walk(partial)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
            if (!Files.isDirectory(target)) {
                throw e;
            }
        }
    }

    /** Every Python file of the package, by its path below the directory that Python searches. */
    static SortedMap<String, byte[]> files() {
        Optional<Path> named = override();
        if (named.isPresent()) {
            try {
                return filesBelow(named.get());
            } catch (IOException e) {
                throw unreadable(named.get(), e);
            }
        }
        return packaged();
    }

    private static SortedMap<String, byte[]> packaged() {
        URL marker = PythonSources.class.getResource(ROOT + MARKER);
        if (marker == null) {
            throw new TorchAneException(
                    "the artifact torch-ane-polyglot-host lacks its Python sources: " + ROOT + MARKER);
        }
        try {
            if (!marker.getProtocol().equals("jar")) {
                return filesBelow(Path.of(marker.toURI()).getParent().getParent());
            }
            URI jar =
                    URI.create(marker.toString().substring(0, marker.toString().indexOf('!')));
            try (FileSystem content = FileSystems.newFileSystem(Path.of(URI.create(jar.getSchemeSpecificPart())))) {
                return filesBelow(content.getPath(ROOT));
            }
        } catch (IOException | URISyntaxException e) {
            throw new TorchAneException("the Python sources cannot be read from " + marker + ": " + e.getMessage(), e);
        }
    }

    private static SortedMap<String, byte[]> filesBelow(Path root) throws IOException {
        SortedMap<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root.resolve(PACKAGE))) {
            for (Path path :
                    paths.filter(each -> each.toString().endsWith(".py")).toList()) {
                files.put(root.relativize(path).toString().replace('\\', '/'), Files.readAllBytes(path));
            }
        }
        return files;
    }

    /** Digest of the package below a directory. */
    static String digest(Path directory) {
        try {
            return digest(filesBelow(directory));
        } catch (IOException e) {
            throw unreadable(directory, e);
        }
    }

    private static TorchAneException unreadable(Path directory, IOException e) {
        return new TorchAneException("the Python sources in " + directory + " cannot be read: " + e.getMessage(), e);
    }

    private static String digest(SortedMap<String, byte[]> files) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            files.forEach((name, bytes) -> {
                digest.update(name.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0);
                digest.update(bytes);
            });
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
