package dev.torchane.venv;

import java.nio.file.Path;

/**
 * An installed GraalPy environment.
 *
 * @param home the environment's directory; holds {@code pyvenv.cfg}
 * @param executable what {@code python.Executable} must name for GraalPy to recognise the environment. It is a
 *     signpost, not an interpreter: Python runs inside this process only
 * @param sitePackages where the packages are
 * @param digest what the environment was made from: 16 hexadecimal digits of a SHA-256 over lock file and platform
 */
public record Venv(Path home, Path executable, Path sitePackages, String digest) {

    static Venv at(Path home, String digest) {
        return new Venv(
                home,
                home.resolve("bin").resolve("python"),
                home.resolve("lib").resolve("python3.12").resolve("site-packages"),
                digest);
    }
}
