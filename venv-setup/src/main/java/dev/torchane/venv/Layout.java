package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The files that make a directory an environment, written by hand: {@code python -m venv} on GraalPy takes half a
 * minute for the same. GraalPy's {@code site} recognises an environment by {@code pyvenv.cfg} beside the directory of
 * {@code python.Executable}.
 */
final class Layout {

    private static final String STAMP = ".torch-ane-complete";
    private static final String LAUNCHER = """
            #!/bin/sh
            echo "This environment is used by torch-ane inside a JVM; it has no interpreter of its own." >&2
            exit 1
            """;

    private Layout() {}

    /** Writes everything but the packages into {@code venv}, which will be renamed to {@code target}. */
    static void write(Venv venv, Path target, String pythonVersion) throws IOException {
        Files.createDirectories(venv.sitePackages());
        Path bin = venv.executable().getParent();
        Files.createDirectories(bin);
        Path launcher = bin.resolve("graalpy");
        Files.writeString(launcher, LAUNCHER);
        if (!launcher.toFile().setExecutable(true)) {
            throw new IOException("could not make " + launcher + " executable");
        }
        for (String name : new String[] {"python", "python3"}) {
            Files.copy(launcher, bin.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Files.writeString(
                venv.home().resolve("pyvenv.cfg"),
                "home = %s\ninclude-system-site-packages = false\nversion = %s\n"
                        .formatted(target.resolve("bin"), pythonVersion));
    }

    /** Writes the module that stands in for a requirement that is left out. */
    static void standIn(Venv venv, String module) throws IOException {
        try (InputStream in = Layout.class.getResourceAsStream("standins/" + module)) {
            if (in == null) {
                throw new IOException("the resource standins/" + module + " is missing");
            }
            Files.copy(in, venv.sitePackages().resolve(module));
        }
    }

    static void stamp(Venv venv) throws IOException {
        Files.writeString(venv.home().resolve(STAMP), venv.digest());
    }

    static boolean isComplete(Venv venv) {
        return Files.exists(venv.home().resolve(STAMP)) && Files.exists(venv.executable());
    }

    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
