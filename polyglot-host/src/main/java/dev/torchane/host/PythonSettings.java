package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.build.Progress;
import dev.torchane.cache.CacheRoot;
import dev.torchane.venv.InstallProgress;
import dev.torchane.venv.VenvException;
import dev.torchane.venv.VenvInstaller;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where Python finds its code.
 *
 * @param venv the GraalPy environment: a directory with {@code lib/python3.*\/site-packages}
 * @param sources the directory that contains the package {@code torch_ane}
 */
record PythonSettings(Path venv, Path sources) {

    PythonSettings {
        venv = venv.toAbsolutePath().normalize();
        sources = sources.toAbsolutePath().normalize();
    }

    /** Names an environment to use instead of the installed one. */
    static final String VENV = "torchane.venv";

    /**
     * The environment that {@value #VENV} names, or the installed one, installed first if need be; and the sources of this
     * artifact.
     */
    static PythonSettings locate(Progress progress) {
        Path cache = CacheRoot.locate();
        String named = System.getProperty(VENV);
        Path venv = named != null ? Path.of(named) : installed(cache, progress);
        return new PythonSettings(venv, PythonSources.directory(cache));
    }

    private static Path installed(Path cache, Progress progress) {
        try {
            return VenvInstaller.standard().install(cache, passingOn(progress)).home();
        } catch (VenvException e) {
            throw new TorchAneException("the Python environment cannot be installed: " + e.getMessage(), e);
        }
    }

    private static InstallProgress passingOn(Progress progress) {
        return new InstallProgress() {
            @Override
            public void stage(String stage, long total, String unit) {
                progress.stage(stage, total, unit);
            }

            @Override
            public void done(long units) {
                progress.done(units);
            }
        };
    }

    /**
     * The directory of installed packages.
     *
     * @throws TorchAneException when the environment has none
     */
    Path sitePackages() {
        requireRealDirectory(venv);
        Path lib = venv.resolve("lib");
        if (Files.isDirectory(lib)) {
            try (DirectoryStream<Path> pythons = Files.newDirectoryStream(lib, "python3.*")) {
                for (Path python : pythons) {
                    Path packages = python.resolve("site-packages");
                    if (Files.isDirectory(packages)) {
                        return packages;
                    }
                }
            } catch (IOException e) {
                throw new TorchAneException("the Python environment " + venv + " cannot be read: " + e.getMessage(), e);
            }
        }
        throw new TorchAneException("the Python environment " + venv
                + " has no lib/python3.*/site-packages: build it with ./torch-ane venv");
    }

    /** What Python takes for its own executable. */
    Path launcher() {
        return venv.resolve("bin").resolve("graalpy");
    }

    private static void requireRealDirectory(Path venv) {
        if (!venv.getFileSystem().equals(java.nio.file.FileSystems.getDefault())) {
            throw new TorchAneException("the Python environment " + venv
                    + " lies in a virtual file system; native libraries load from real directories only: unpack it and name"
                    + " that directory");
        }
        if (!Files.isDirectory(venv)) {
            throw new TorchAneException(
                    "there is no Python environment at " + venv + ": build it with ./torch-ane venv");
        }
    }
}
