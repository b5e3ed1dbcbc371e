package dev.torchane.venv;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A wheel of a few files, in memory. */
record TinyWheel(String name, String version, String file, byte[] bytes) {

    static TinyWheel of(String name, String version, String tag, Map<String, byte[]> files) {
        var out = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(out)) {
            for (var entry : files.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
            zip.putNextEntry(new ZipEntry(name + "-" + version + ".dist-info/METADATA"));
            zip.write(("Name: " + name + "\nVersion: " + version + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new TinyWheel(name, version, name + "-" + version + "-" + tag + ".whl", out.toByteArray());
    }

    static TinyWheel pure(String name, String... files) {
        var map = new TreeMap<String, byte[]>();
        for (String file : files) {
            map.put(file, ("# " + file).getBytes(StandardCharsets.UTF_8));
        }
        return of(name, "1.0", "py3-none-any", map);
    }

    Lock.Wheel locked() {
        return new Lock.Wheel(name, version, file, hash(bytes), bytes.length);
    }

    /** The excerpt of these members, as the lock tool would write it. */
    Lock.Excerpt excerpt(Platform platform, Map<String, byte[]> members) throws IOException {
        ZipDirectory.Source source =
                (from, length) -> ByteBuffer.wrap(bytes, (int) from, length).slice();
        var entries = ZipDirectory.read(source, bytes.length);
        var locked = new ArrayList<Lock.Member>();
        members.forEach((path, contents) -> {
            var entry = entries.get(path);
            locked.add(new Lock.Member(
                    path, entry.compressedSize(), entry.size(), "%08x".formatted(entry.crc32()), hash(contents)));
        });
        return new Lock.Excerpt(platform.tag(), locked(), List.copyOf(locked));
    }

    static String hash(byte[] bytes) {
        try {
            return Hashes.of(new ByteArrayInputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
