package dev.torchane.venv;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.zip.ZipException;

/**
 * The directory of what was fetched, apart from the environments made of it: a second environment needs no network. A
 * file carries its final name only when its hash is right; until then it is a {@code .part} that is gone on with.
 */
final class Downloads {

    private final Path directory;
    private final Fetcher fetcher;
    private final PackageIndex index;
    private final Meter meter;

    Downloads(Path directory, Fetcher fetcher, PackageIndex index, Meter meter) {
        this.directory = directory;
        this.fetcher = fetcher;
        this.index = index;
        this.meter = meter;
    }

    /** The wheel, with the right hash: the kept one, one in a local directory, or a fetched one. */
    Path wheel(Lock.Wheel wheel) throws IOException {
        Path kept = directory.resolve(wheel.file());
        if (isWhole(kept, wheel)) {
            meter.add(wheel.size());
            return kept;
        }
        URI uri = index.locate(wheel.name(), wheel.version(), wheel.file());
        if ("file".equals(uri.getScheme())) {
            Path local = Path.of(uri);
            verify(local, wheel, uri);
            meter.add(wheel.size());
            return local;
        }
        return fetchWhole(wheel, uri);
    }

    private Path fetchWhole(Lock.Wheel wheel, URI uri) throws IOException {
        Path part = directory.resolve(wheel.file() + "." + wheel.sha256().substring(0, 8) + ".part");
        fetcher.whole(uri, wheel.size(), part, meter);
        try {
            verify(part, wheel, uri);
        } catch (VenvException e) {
            Files.deleteIfExists(part);
            throw e;
        }
        return Files.move(part, directory.resolve(wheel.file()), StandardCopyOption.REPLACE_EXISTING);
    }

    private static boolean isWhole(Path file, Lock.Wheel wheel) throws IOException {
        return Files.exists(file)
                && Files.size(file) == wheel.size()
                && Hashes.of(file).equals(wheel.sha256());
    }

    private static void verify(Path file, Lock.Wheel wheel, URI from) throws IOException {
        String found = Hashes.of(file);
        if (!found.equals(wheel.sha256())) {
            throw new VenvException("%s from %s has sha256 %s, the lock file says %s: it was not installed"
                    .formatted(wheel.file(), shown(from), found, wheel.sha256()));
        }
    }

    private static String shown(URI uri) {
        return "file".equals(uri.getScheme()) ? uri.getPath() : Http.shown(uri);
    }

    /** Where the compressed bytes of a member are kept. */
    Path kept(Lock.Excerpt excerpt, Lock.Member member) {
        return directory.resolve(excerpt.wheel().file() + ".members").resolve(member.fileName() + ".deflate");
    }

    /** Brings the compressed bytes of every member; their contents are verified when they are unpacked. */
    void members(Lock.Excerpt excerpt) throws IOException {
        boolean all = true;
        for (Lock.Member member : excerpt.members()) {
            Path kept = kept(excerpt, member);
            all &= Files.exists(kept) && Files.size(kept) == member.compressedSize();
        }
        if (all) {
            excerpt.members().forEach(member -> meter.add(member.compressedSize()));
            return;
        }
        Lock.Wheel wheel = excerpt.wheel();
        Files.createDirectories(directory.resolve(wheel.file() + ".members"));
        Path whole = directory.resolve(wheel.file());
        URI uri = isWhole(whole, wheel) ? whole.toUri() : index.locate(wheel.name(), wheel.version(), wheel.file());
        try {
            if ("file".equals(uri.getScheme())) {
                cut(excerpt, Path.of(uri));
            } else {
                ranges(excerpt, uri);
            }
        } catch (ZipException e) {
            throw new VenvException(
                    "%s is not the wheel that the lock file says: %s".formatted(shown(uri), e.getMessage()), e);
        } catch (Fetcher.RangesRefused e) {
            meter.stage("download " + wheel.file() + " whole, as its server refuses parts", wheel.size(), "bytes");
            Path fetched = fetchWhole(wheel, uri);
            cut(excerpt, fetched);
            Files.delete(fetched);
        }
    }

    private void ranges(Lock.Excerpt excerpt, URI uri) throws IOException {
        ZipDirectory.Source source = (from, length) -> fetcher.piece(uri, from, length);
        var entries = ZipDirectory.read(source, excerpt.wheel().size());
        for (Lock.Member member : excerpt.members()) {
            Path kept = kept(excerpt, member);
            if (Files.exists(kept) && Files.size(kept) == member.compressedSize()) {
                meter.add(member.compressedSize());
                continue;
            }
            long data = ZipDirectory.dataOffset(source, entry(entries, excerpt, member));
            Path part = kept.resolveSibling(kept.getFileName() + ".part");
            fetcher.range(uri, data, member.compressedSize(), part, meter);
            Files.move(part, kept, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private void cut(Lock.Excerpt excerpt, Path wheel) throws IOException {
        try (FileChannel file = FileChannel.open(wheel)) {
            ZipDirectory.Source source = (from, length) -> {
                ByteBuffer buffer = ByteBuffer.allocate(length);
                while (buffer.hasRemaining() && file.read(buffer, from + buffer.position()) >= 0) {}
                return buffer.flip();
            };
            var entries = ZipDirectory.read(source, file.size());
            for (Lock.Member member : excerpt.members()) {
                long data = ZipDirectory.dataOffset(source, entry(entries, excerpt, member));
                Path kept = kept(excerpt, member);
                Path part = kept.resolveSibling(kept.getFileName() + ".part");
                Files.deleteIfExists(part);
                try (FileChannel out =
                        FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    copy(file, data, member.compressedSize(), out);
                }
                Files.move(part, kept, StandardCopyOption.REPLACE_EXISTING);
                meter.add(member.compressedSize());
            }
        }
    }

    private static void copy(FileChannel from, long offset, long size, SeekableByteChannel to) throws IOException {
        for (long done = 0; done < size; ) {
            done += from.transferTo(offset + done, size - done, to);
        }
    }

    private static ZipDirectory.Entry entry(
            Map<String, ZipDirectory.Entry> entries, Lock.Excerpt excerpt, Lock.Member member) {
        ZipDirectory.Entry entry = entries.get(member.path());
        if (entry == null
                || entry.method() != ZipDirectory.DEFLATE
                || entry.compressedSize() != member.compressedSize()
                || entry.size() != member.size()
                || entry.crc32() != Long.parseLong(member.crc32(), 16)) {
            throw new VenvException("%s has %s for %s, the lock file says %s: it was not installed"
                    .formatted(excerpt.wheel().file(), entry == null ? "nothing" : entry, member.path(), member));
        }
        return entry;
    }
}
