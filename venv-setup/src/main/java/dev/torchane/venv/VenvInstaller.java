package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Installs the GraalPy environment that the lock file describes: unpacks the wheels that come with this artifact, and
 * brings the others from the package index that pip is configured to, or that the pip inside GraalPy falls back to.
 *
 * <p>An environment is complete or absent: it is made in a temporary sibling and renamed. Downloads are kept apart from
 * it and resumed after an interruption. Threads and processes that install at the same time wait for the one that came
 * first. Safe to use from several threads.
 */
public final class VenvInstaller {

    /** Raised when an environment made by an older installer of the same lock file must not be used. */
    private static final int LAYOUT = 1;

    private static final String PYTHON = "3.12.8";
    private static final int PARALLEL_DOWNLOADS = 4;

    private final Surroundings here;
    private final LockFile lockFile;
    private final House house;
    private final Supplier<String> defaultIndex;
    private final Patience patience;

    VenvInstaller(Surroundings here, LockFile lockFile, House house, Supplier<String> defaultIndex, Patience patience) {
        this.here = here;
        this.lockFile = lockFile;
        this.house = house;
        this.defaultIndex = defaultIndex;
        this.patience = patience;
    }

    /** The installer for this machine, with the lock file and wheels of this artifact. */
    public static VenvInstaller standard() {
        Surroundings here = Surroundings.current();
        return new VenvInstaller(
                here,
                LockFile.own(),
                House.of(here),
                () -> BundledPip.defaultIndex(VenvInstaller.class.getClassLoader()),
                Patience.USUAL);
    }

    /** The version of every package of the environment by its name, {@code torch → 2.6.0} among them. */
    public SortedMap<String, String> versions() {
        return lockFile.parsed().versions(here.platform());
    }

    /** The environment, if it is complete under {@code cacheRoot}; costs a look at two files. */
    public Optional<Venv> find(Path cacheRoot) {
        String digest = digest();
        Venv venv = Venv.at(cacheRoot.toAbsolutePath().normalize().resolve("venv-" + digest), digest);
        return Layout.isComplete(venv) ? Optional.of(venv) : Optional.empty();
    }

    /**
     * Makes sure that the environment is complete under {@code cacheRoot}: {@code cacheRoot/venv-<digest>}, with
     * downloads in {@code cacheRoot/downloads}. Does nothing when it is.
     *
     * @throws VenvException when there are no wheels for this platform, a file cannot be fetched or has a wrong hash,
     *     or the disk refuses; what has arrived is kept for the next try
     */
    public Venv install(Path cacheRoot, InstallProgress progress) {
        return find(cacheRoot).orElseGet(() -> {
            Lock lock = lockFile.parsed();
            checkPlatform(lock);
            Path root = cacheRoot.toAbsolutePath().normalize();
            try {
                Files.createDirectories(root.resolve("downloads"));
                var meter = new Meter(progress);
                try (var _ = InstallLock.acquire(
                        root.resolve("venv.lock"),
                        () -> meter.stage("wait for another installation of the Python environment", 0, ""))) {
                    return find(root).orElseGet(() -> installLocked(lock, root, meter));
                }
            } catch (IOException e) {
                throw VenvException.disk(root, e);
            }
        });
    }

    /**
     * Fetches one file of the package index into {@code cacheRoot/downloads}, resuming what an earlier try left.
     *
     * @param name of the distribution on the index
     * @param file name of the file there
     * @param sha256 hexadecimal; a file with another hash is refused
     * @param size in bytes
     * @return the file, with that hash; it may be one of a local folder that pip is configured to look into
     * @throws VenvException when it cannot be fetched, has another hash, or the disk refuses
     */
    public Path fetch(
            Path cacheRoot,
            String name,
            String version,
            String file,
            String sha256,
            long size,
            InstallProgress progress) {
        Path root = cacheRoot.toAbsolutePath().normalize();
        var meter = new Meter(progress);
        try {
            Files.createDirectories(root.resolve("downloads"));
            var pip = PipConfig.of(here);
            try (var _ = InstallLock.acquire(
                            root.resolve("venv.lock"), () -> meter.stage("wait for another download", 0, ""));
                    var http = Http.of(here, pip, patience)) {
                var index = new PackageIndex(http, pip.indexes(defaultIndex), pip.findLinks());
                var downloads = new Downloads(root.resolve("downloads"), new Fetcher(http, patience), index, meter);
                meter.stage("download " + file, size, "bytes");
                return downloads.wheel(new Lock.Wheel(name, version, file, sha256, size));
            }
        } catch (IOException e) {
            throw VenvException.disk(root, e);
        }
    }

    private Venv installLocked(Lock lock, Path root, Meter meter) {
        String digest = digest();
        Path target = root.resolve("venv-" + digest);
        try {
            deleteLeftovers(root);
            checkSpace(lock, root);
            var pip = PipConfig.of(here);
            Path temporary = Files.createDirectory(root.resolve(".venv-" + digest));
            try (var http = Http.of(here, pip, patience)) {
                var index = new PackageIndex(http, pip.indexes(defaultIndex), pip.findLinks());
                var downloads = new Downloads(root.resolve("downloads"), new Fetcher(http, patience), index, meter);
                List<Path> wheels = fetch(lock, downloads, meter);
                Venv venv = Venv.at(temporary, digest);
                Layout.write(venv, target, PYTHON);
                unpack(lock, venv, wheels, downloads, meter);
                Layout.stamp(venv);
                Layout.delete(target);
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Layout.delete(temporary);
            }
            return Venv.at(target, digest);
        } catch (IOException e) {
            throw VenvException.disk(root, e);
        }
    }

    private List<Path> fetch(Lock lock, Downloads downloads, Meter meter) throws IOException {
        var excerpts = lock.excerpts(here.platform());
        long bytes = lock.packages().stream().mapToLong(Lock.Wheel::size).sum();
        meter.stage("download %d Python packages".formatted(lock.packages().size()), bytes, "bytes");
        var paths = new ArrayList<Path>();
        try (var pool = Executors.newFixedThreadPool(PARALLEL_DOWNLOADS)) {
            var running = new ArrayList<Future<Path>>();
            lock.packages().forEach(wheel -> running.add(pool.submit(() -> downloads.wheel(wheel))));
            try {
                for (var one : running) {
                    paths.add(one.get());
                }
            } catch (ExecutionException e) {
                pool.shutdownNow();
                throw rethrown(e.getCause());
            } catch (InterruptedException e) {
                pool.shutdownNow();
                Thread.currentThread().interrupt();
                throw new VenvException("interrupted; what has arrived is kept", e);
            }
        }
        for (var excerpt : excerpts) {
            meter.stage(
                    "download %d libraries of %s"
                            .formatted(excerpt.members().size(), excerpt.wheel().name()),
                    excerpt.members().stream()
                            .mapToLong(Lock.Member::compressedSize)
                            .sum(),
                    "bytes");
            downloads.members(excerpt);
        }
        return paths;
    }

    private static RuntimeException rethrown(Throwable cause) throws IOException {
        return switch (cause) {
            case RuntimeException e -> e;
            case IOException e -> throw e;
            case Error e -> throw e;
            default -> new IllegalStateException(cause);
        };
    }

    private void unpack(Lock lock, Venv venv, List<Path> wheels, Downloads downloads, Meter meter) throws IOException {
        var unpacker = new Unpacker(venv.sitePackages(), meter);
        meter.stage("unpack", 0, "bytes");
        for (Lock.Wheel wheel : lock.house(here.platform())) {
            try (InputStream in = house.open(wheel)) {
                unpacker.wheel(in, wheel, false);
            }
        }
        for (int i = 0; i < wheels.size(); i++) {
            try (InputStream in = Files.newInputStream(wheels.get(i))) {
                unpacker.wheel(in, lock.packages().get(i), true);
            }
        }
        for (Lock.Excerpt excerpt : lock.excerpts(here.platform())) {
            for (Lock.Member member : excerpt.members()) {
                Path kept = downloads.kept(excerpt, member);
                if (!unpacker.member(kept, member)) {
                    Files.deleteIfExists(kept);
                    throw new VenvException(
                            "%s of %s does not have the contents that the lock file says; it was deleted: try again"
                                    .formatted(member.path(), excerpt.wheel().file()));
                }
            }
        }
        for (Lock.Absent absent : lock.leftOut()) {
            if (!absent.standIn().isEmpty()) {
                Layout.standIn(venv, absent.standIn());
            }
        }
    }

    private void checkPlatform(Lock lock) {
        if (lock.house(here.platform()).isEmpty()) {
            List<String> known = lock.house().stream()
                    .map(w -> w.platform().tag())
                    .distinct()
                    .sorted()
                    .toList();
            throw new VenvException(
                    "there are no GraalPy wheels for %s in this build (it has them for %s). Build them with venv-setup/build-wheels/all.sh, then venv-setup/relock.sh"
                            .formatted(here.platform().tag(), known));
        }
    }

    /** An estimate on the safe side: what has to be downloaded, and what it unpacks to. */
    private void checkSpace(Lock lock, Path root) throws IOException {
        long wheels = lock.packages().stream().mapToLong(Lock.Wheel::size).sum();
        long houses =
                lock.house(here.platform()).stream().mapToLong(Lock.Wheel::size).sum();
        long needed = 5 * wheels + 4 * houses;
        for (Lock.Excerpt excerpt : lock.excerpts(here.platform())) {
            for (Lock.Member member : excerpt.members()) {
                needed += member.size() + member.compressedSize();
            }
        }
        long usable = Files.getFileStore(root).getUsableSpace();
        if (usable < needed) {
            throw new VenvException(
                    "the Python environment needs %d MB in %s, which has %d MB left. Free some space, or put the cache elsewhere with TORCH_ANE_CACHE"
                            .formatted(needed >> 20, root, usable >> 20));
        }
    }

    private static void deleteLeftovers(Path root) throws IOException {
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(root, ".venv-*")) {
            for (Path leftover : leftovers) {
                Layout.delete(leftover);
            }
        }
    }

    private String digest() {
        MessageDigest digest = Hashes.sha256();
        digest.update((LAYOUT + " " + here.platform().tag() + " ").getBytes(StandardCharsets.UTF_8));
        lockFile.addTo(digest);
        return Hashes.hex(digest).substring(0, 16);
    }
}
