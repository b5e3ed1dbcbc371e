package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Writes {@code venv.lock} anew: takes names and versions of packages and the paths of excerpts from the present one
 * (edit those to change them), looks the files up in the package index, takes the house wheels from the directory
 * {@code wheelhouse}, and refuses a result in which a requirement is neither present nor deliberately left out.
 */
final class Relock {

    private Relock() {}

    /** Arguments: the directory {@code venv-setup}. */
    public static void main(String[] arguments) throws IOException {
        Path module = Path.of(arguments[0]);
        Path file = module.resolve("src/main/resources/dev/torchane/venv/venv.lock");
        Lock old;
        try (InputStream in = Files.newInputStream(file)) {
            old = Lock.read(in);
        }
        Surroundings here = Surroundings.current();
        PipConfig pip = PipConfig.of(here);
        Path downloads = Files.createTempDirectory("relock");
        try (var http = Http.of(here, pip, Patience.USUAL)) {
            var index = new PackageIndex(
                    http, pip.indexes(() -> BundledPip.defaultIndex(Relock.class.getClassLoader())), pip.findLinks());
            Lock made = new Relocking(http, index, downloads).relock(old, module.resolve("wheelhouse"));
            Files.writeString(file, Lock.json().writeValueAsString(made) + "\n");
            System.out.printf(
                    "%s: %d packages, %d house wheels%n",
                    file, made.packages().size(), made.house().size());
        } finally {
            Layout.delete(downloads);
        }
    }

    private record Relocking(Http http, PackageIndex index, Path downloads) {

        Lock relock(Lock old, Path wheelhouse) throws IOException {
            Map<String, String> metadata = new TreeMap<>();
            List<Lock.Wheel> house = house(wheelhouse, metadata);
            var packages = new ArrayList<Lock.Wheel>();
            for (Lock.Wheel wheel : old.packages()) {
                packages.add(packaged(wheel, metadata));
            }
            var excerpts = new ArrayList<Lock.Excerpt>();
            for (Lock.Excerpt excerpt : old.excerpts()) {
                excerpts.add(excerpt(excerpt));
            }
            var made = new Lock(Lock.FORMAT, packages, excerpts, house, old.leftOut());
            checkClosed(made, metadata);
            return made;
        }

        private List<Lock.Wheel> house(Path wheelhouse, Map<String, String> metadata) throws IOException {
            var house = new ArrayList<Lock.Wheel>();
            try (DirectoryStream<Path> wheels = Files.newDirectoryStream(wheelhouse, "*.whl")) {
                for (Path wheel : wheels) {
                    String[] parts = wheel.getFileName().toString().split("-");
                    house.add(described(parts[0], parts[1], wheel, metadata));
                }
            }
            house.sort(Comparator.comparing(Lock.Wheel::file));
            return house;
        }

        private Lock.Wheel packaged(Lock.Wheel old, Map<String, String> metadata) throws IOException {
            Map<String, URI> files = index.files(old.name());
            String name = files.keySet().stream()
                    .filter(file -> file.endsWith(".whl") && file.split("-")[1].equals(old.version()))
                    .filter(file -> file.endsWith("-none-any.whl") || file.matches(".*-cp312-manylinux.*_x86_64\\.whl"))
                    .min(Comparator.comparing(file -> !file.endsWith("-none-any.whl")))
                    .orElseThrow(() -> new VenvException("no wheel of " + old.name() + " " + old.version()));
            Path fetched = downloads.resolve(name);
            try (Http.Reply reply = http.get(files.get(name), "*/*")) {
                Files.copy(reply.body(), fetched);
            }
            System.out.println(name);
            return described(old.name(), old.version(), fetched, metadata);
        }

        private Lock.Wheel described(String name, String version, Path wheel, Map<String, String> metadata)
                throws IOException {
            try (var zip = new ZipInputStream(Files.newInputStream(wheel))) {
                for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                    if (entry.getName().endsWith(".dist-info/METADATA")) {
                        metadata.put(
                                PackageIndex.normalized(name), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
                    }
                }
            }
            return new Lock.Wheel(name, version, wheel.getFileName().toString(), Hashes.of(wheel), Files.size(wheel));
        }

        /** The wheel itself is pinned already: only its members are looked up again. */
        private Lock.Excerpt excerpt(Lock.Excerpt old) throws IOException {
            Lock.Wheel wheel = old.wheel();
            URI uri = index.locate(wheel.name(), wheel.version(), wheel.file());
            var fetcher = new Fetcher(http, Patience.USUAL);
            ZipDirectory.Source source = (from, length) -> fetcher.piece(uri, from, length);
            var entries = ZipDirectory.read(source, wheel.size());
            var members = new ArrayList<Lock.Member>();
            for (Lock.Member member : old.members()) {
                ZipDirectory.Entry entry = entries.get(member.path());
                Path part = downloads.resolve(member.fileName());
                fetcher.range(
                        uri,
                        ZipDirectory.dataOffset(source, entry),
                        entry.compressedSize(),
                        part,
                        new Meter(InstallProgress.none()));
                String sha256;
                try (var in = new InflaterInputStream(Files.newInputStream(part), new Inflater(true))) {
                    sha256 = Hashes.of(in);
                }
                System.out.println(wheel.file() + " " + member.path());
                members.add(new Lock.Member(
                        member.path(), entry.compressedSize(), entry.size(), "%08x".formatted(entry.crc32()), sha256));
            }
            return new Lock.Excerpt(old.platform(), wheel, members);
        }

        private static void checkClosed(Lock lock, Map<String, String> metadata) {
            var known = new TreeSet<String>(metadata.keySet());
            lock.leftOut().forEach(absent -> known.add(PackageIndex.normalized(absent.name())));
            metadata.forEach((name, text) -> {
                for (String requirement : requirements(text)) {
                    if (!known.contains(requirement)) {
                        throw new VenvException(
                                "%s requires %s: add it to \"packages\", or to \"leftOut\" with the reason"
                                        .formatted(name, requirement));
                    }
                }
            });
        }
    }

    /** Names of what a distribution requires when none of its extras is asked for. */
    static List<String> requirements(String metadata) {
        return metadata.lines()
                .takeWhile(line -> !line.isBlank())
                .filter(line -> line.startsWith("Requires-Dist:") && !line.contains("extra =="))
                .map(line -> line.substring("Requires-Dist:".length()).strip())
                .map(line -> PackageIndex.normalized(line.replaceFirst("[\\s;\\[(<>=!~].*", "")))
                .toList();
    }
}
