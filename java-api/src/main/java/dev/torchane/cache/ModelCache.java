package dev.torchane.cache;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Built models below one folder, one directory each. An entry is written into a temporary sibling, forced to the disk and
 * renamed: it is whole or it is absent. Two processes (or threads) that want the same entry make it once.
 */
public final class ModelCache {

    private static final String UNFINISHED = ".building";
    private static final String DISCARDED = ".discarded";
    private static final ConcurrentHashMap<Path, ReentrantLock> IN_PROCESS = new ConcurrentHashMap<>();

    private final Path models;

    /**
     * @param root cache folder; entries are in {@code models} below it
     */
    public ModelCache(Path root) {
        this.models = root.resolve("models");
    }

    /** The entry of a key, if it is built. */
    public Optional<Path> find(ModelKey key) {
        Path entry = models.resolve(key.entry());
        return Files.isDirectory(entry) ? Optional.of(touched(entry)) : Optional.empty();
    }

    /** The newest entry with the key's source and options, built by whatever versions. */
    public Optional<Path> findAnyVersion(ModelKey key) {
        return entries().stream()
                .filter(entry -> entry.getFileName().toString().startsWith(key.prefix()))
                .max(Comparator.comparing(ModelCache::lastModified))
                .map(ModelCache::touched);
    }

    /**
     * The entry of a key, built when it is absent.
     *
     * @param build fills the empty directory it is given
     * @throws TorchAneException when the cache cannot be written; whatever {@code build} throws passes through, and leaves
     *     no entry
     */
    public Path findOrBuild(ModelKey key, Consumer<Path> build) {
        Optional<Path> present = find(key);
        return present.orElseGet(() -> install(models.resolve(key.entry()), build));
    }

    /** What tells an entry from one that takes its place later; for {@link #replace}. */
    public static Object identity(Path entry) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(entry, BasicFileAttributes.class);
            return Optional.ofNullable(attributes.fileKey()).orElse(attributes.creationTime());
        } catch (IOException gone) {
            return entry;
        }
    }

    /**
     * Builds the entry of a key again and puts it in the place of the one that is there, unless another process has done so
     * already. The old one stays when the build fails.
     *
     * @param identity of the entry that is to be replaced
     * @param build fills the empty directory it is given
     */
    public Path replace(ModelKey key, Object identity, Consumer<Path> build) {
        return install(
                models.resolve(key.entry()),
                entry -> Files.isDirectory(entry) && !identity(entry).equals(identity),
                build);
    }

    /**
     * Builds a directory atomically, unless it exists.
     *
     * @param target the finished directory
     * @param build fills the empty directory it is given, a sibling of {@code target}
     * @return {@code target}
     */
    public static Path install(Path target, Consumer<Path> build) {
        return install(target, Files::isDirectory, build);
    }

    private static Path install(Path target, Predicate<Path> present, Consumer<Path> build) {
        Path parent = target.toAbsolutePath().getParent();
        String name = target.getFileName().toString();
        Path lockFile = parent.resolve("." + name + ".lock");
        ReentrantLock inProcess = IN_PROCESS.computeIfAbsent(target.toAbsolutePath(), path -> new ReentrantLock());
        inProcess.lock();
        try {
            Files.createDirectories(parent);
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = channel.lock()) {
                if (present.test(target)) {
                    return target;
                }
                Path unfinished = parent.resolve("." + name + UNFINISHED);
                deleteTree(unfinished);
                Files.createDirectory(unfinished);
                try {
                    build.accept(unfinished);
                    force(unfinished);
                    discard(target);
                    Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
                    forceDirectory(parent);
                } finally {
                    deleteTree(unfinished);
                }
            }
            return target;
        } catch (IOException failure) {
            throw storageFailure(parent, failure);
        } finally {
            inProcess.unlock();
        }
    }

    /** Every finished entry. */
    public List<Path> entries() {
        if (!Files.isDirectory(models)) {
            return List.of();
        }
        try (Stream<Path> children = Files.list(models)) {
            return children.filter(child -> !child.getFileName().toString().startsWith("."))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        } catch (IOException failure) {
            throw storageFailure(models, failure);
        }
    }

    /**
     * Deletes the entries used longest ago until the rest takes at most {@code maxBytes}.
     *
     * @return what was deleted
     */
    public List<Path> prune(long maxBytes) {
        List<Path> oldestFirst = entries().stream()
                .sorted(Comparator.comparing(ModelCache::lastModified))
                .toList();
        long total = oldestFirst.stream().mapToLong(ModelCache::size).sum();
        List<Path> deleted = new java.util.ArrayList<>();
        for (Path entry : oldestFirst) {
            if (total <= maxBytes) {
                break;
            }
            total -= size(entry);
            try {
                discard(entry);
            } catch (IOException failure) {
                throw storageFailure(models, failure);
            }
            deleted.add(entry);
        }
        return List.copyOf(deleted);
    }

    /** What to tell people when the disk refused. */
    static TorchAneException storageFailure(Path folder, IOException failure) {
        String text = String.valueOf(failure.getMessage());
        if (text.contains("No space left") || text.contains("not enough space") || text.contains("Disk quota")) {
            return new TorchAneException(
                    "the disk is full: " + folder + " cannot take what is being built (nothing half-written is kept); "
                            + "free some space, or point " + CacheRoot.VARIABLE + " to another disk",
                    failure);
        }
        return new TorchAneException("cannot write below " + folder + ": " + failure, failure);
    }

    private static Path touched(Path entry) {
        try {
            Files.setLastModifiedTime(entry, FileTime.from(Instant.now()));
        } catch (IOException readOnly) {
            // a cache that cannot be written can still be read
        }
        return entry;
    }

    private static FileTime lastModified(Path entry) {
        try {
            return Files.getLastModifiedTime(entry);
        } catch (IOException gone) {
            return FileTime.fromMillis(0);
        }
    }

    private static long size(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException failure) {
            throw storageFailure(directory, failure);
        }
    }

    private static void force(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.isRegularFile(file)) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.force(true);
                    }
                } else {
                    forceDirectory(file);
                }
            }
        }
    }

    private static void forceDirectory(Path directory) {
        try (FileChannel channel = FileChannel.open(directory)) {
            channel.force(true);
        } catch (IOException unsupported) {
            // not every platform can open a directory
        }
    }

    /** Deletes an entry, if there is one; it is out of sight at once. */
    private static void discard(Path entry) throws IOException {
        Path doomed = entry.resolveSibling("." + entry.getFileName() + DISCARDED);
        deleteTree(doomed);
        if (Files.exists(entry)) {
            Files.move(entry, doomed, StandardCopyOption.ATOMIC_MOVE);
            deleteTree(doomed);
        }
    }

    private static void deleteTree(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                if (failure != null && !(failure instanceof NoSuchFileException)) {
                    throw failure;
                }
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
