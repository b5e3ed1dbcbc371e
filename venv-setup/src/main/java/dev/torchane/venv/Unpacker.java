package dev.torchane.venv;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;

/**
 * Puts wheels into {@code site-packages}, as the wheel specification says, without scripts and data files: nothing here
 * has a command line. What a wheel holds is unpacked before its hash is known, so the directory must be thrown away when
 * a method fails.
 */
final class Unpacker {

    private static final int BUFFER = 1 << 18;
    private static final Pattern DATA = Pattern.compile("[^/]+\\.data/(purelib|platlib|scripts|data|headers)/(.*)");
    private static final Pattern NATIVE = Pattern.compile(".*\\.(so|pyd|dll|dylib)");

    private final Path sitePackages;
    private final Meter meter;

    Unpacker(Path sitePackages, Meter meter) {
        this.sitePackages = sitePackages;
        this.meter = meter;
    }

    /**
     * Unpacks a wheel and verifies its hash on the way.
     *
     * @param pythonOnly leaves native libraries out: a wheel of the index has those of another interpreter
     */
    void wheel(InputStream stream, Lock.Wheel wheel, boolean pythonOnly) throws IOException {
        MessageDigest digest = Hashes.sha256();
        var in = new DigestInputStream(stream, digest);
        var zip = new ZipInputStream(in);
        for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
            Optional<String> path = installed(entry.getName());
            if (path.isPresent()
                    && !entry.isDirectory()
                    && !(pythonOnly && NATIVE.matcher(path.get()).matches())) {
                write(zip, path.get(), wheel.file());
            }
        }
        in.transferTo(OutputStream.nullOutputStream());
        String found = Hashes.hex(digest);
        if (!found.equals(wheel.sha256())) {
            throw new VenvException(
                    "%s has sha256 %s, the lock file says %s".formatted(wheel.file(), found, wheel.sha256()));
        }
    }

    /** Inflates a member of an excerpt and verifies size, CRC-32 and SHA-256. Answers whether all were right. */
    boolean member(Path compressed, Lock.Member member) throws IOException {
        Path target = target(member.path(), compressed.toString());
        MessageDigest digest = Hashes.sha256();
        var crc = new CRC32();
        long size;
        var inflater = new Inflater(true);
        try (InputStream file = Files.newInputStream(compressed);
                var inflated = new InflaterInputStream(file, inflater, BUFFER);
                var in = new DigestInputStream(new CheckedInputStream(inflated, crc), digest)) {
            size = copy(in, target);
        } catch (ZipException | EOFException e) {
            return false;
        } finally {
            inflater.end();
        }
        return size == member.size()
                && crc.getValue() == Long.parseLong(member.crc32(), 16)
                && Hashes.hex(digest).equals(member.sha256());
    }

    private static Optional<String> installed(String path) {
        var data = DATA.matcher(path);
        if (!data.matches()) {
            return Optional.of(path);
        }
        return data.group(1).endsWith("lib") ? Optional.of(data.group(2)) : Optional.empty();
    }

    private void write(InputStream in, String path, String wheel) throws IOException {
        Path target = target(path, wheel);
        copy(in, target);
        if (target.getParent().endsWith("bin") && !target.toFile().setExecutable(true)) {
            throw new IOException("could not make " + target + " executable");
        }
    }

    private Path target(String path, String wheel) throws IOException {
        Path target = sitePackages.resolve(path).normalize();
        if (!target.startsWith(sitePackages) || target.equals(sitePackages)) {
            throw new VenvException(
                    "%s holds the path %s, which leads out of it: it was not installed".formatted(wheel, path));
        }
        Files.createDirectories(target.getParent());
        return target;
    }

    private long copy(InputStream in, Path target) throws IOException {
        try (OutputStream out = Files.newOutputStream(target)) {
            byte[] buffer = new byte[BUFFER];
            long size = 0;
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                out.write(buffer, 0, read);
                size += read;
                meter.add(read);
            }
            return size;
        }
    }
}
