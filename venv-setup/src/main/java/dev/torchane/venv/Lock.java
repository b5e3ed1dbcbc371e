package dev.torchane.venv;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What an environment is made of, each file with its SHA-256.
 *
 * @param format version of this file's layout
 * @param packages wheels from the package index; only their Python files are used
 * @param excerpts single members taken out of large wheels of the package index, by platform
 * @param house wheels built for GraalPy that this artifact carries, by platform
 * @param leftOut requirements of the above that are deliberately absent
 */
record Lock(int format, List<Wheel> packages, List<Excerpt> excerpts, List<Wheel> house, List<Absent> leftOut) {

    static final int FORMAT = 1;

    /** A wheel: distribution name, version, file name, hexadecimal SHA-256 and size in bytes. */
    record Wheel(String name, String version, String file, String sha256, long size) {

        Platform platform() {
            return Platform.ofWheel(file);
        }
    }

    /** Members of one wheel that is too large to fetch whole; {@code platform} is where they run. */
    record Excerpt(String platform, Wheel wheel, List<Member> members) {}

    /** A member of a wheel. {@code crc32} is hexadecimal; {@code sha256} is of the unpacked bytes. */
    record Member(String path, long compressedSize, long size, String crc32, String sha256) {

        String fileName() {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    /** A requirement that is left out; {@code standIn} names the module the installer writes instead, if any. */
    record Absent(String name, String why, String standIn) {}

    Lock {
        packages = List.copyOf(packages);
        excerpts = List.copyOf(excerpts);
        house = List.copyOf(house);
        leftOut = List.copyOf(leftOut);
    }

    static ObjectMapper json() {
        return new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    }

    static Lock read(InputStream in) throws IOException {
        Lock lock = json().readValue(in, Lock.class);
        if (lock.format != FORMAT) {
            throw new VenvException(
                    "venv.lock has format %d; this version reads format %d".formatted(lock.format, FORMAT));
        }
        return lock;
    }

    List<Wheel> house(Platform platform) {
        return house.stream().filter(w -> w.platform().equals(platform)).toList();
    }

    List<Excerpt> excerpts(Platform platform) {
        return excerpts.stream().filter(e -> e.platform.equals(platform.tag())).toList();
    }

    /** Version by distribution name, for one platform. */
    SortedMap<String, String> versions(Platform platform) {
        var versions = new TreeMap<String, String>();
        packages.forEach(w -> versions.put(w.name, w.version));
        house(platform).forEach(w -> versions.put(w.name, w.version));
        return versions;
    }
}
