package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole installation, against an index on this machine and wheels of a few files. */
class VenvInstallTest {

    private static final Platform LINUX = new Platform("linux_x86_64");
    private static final Patience PATIENCE = new Patience(Duration.ofMillis(1), Duration.ofMillis(500));
    private static final byte[] LIBRARY = noise(300_000);

    @TempDir
    Path directory;

    private final TinyWheel pure = TinyWheel.of(
            "some_pure",
            "2.1",
            "py3-none-any",
            Map.of(
                    "some_pure/__init__.py", noise(40_000),
                    "some_pure/fast.cpython-312-x86_64-linux-gnu.so", new byte[10],
                    "some_pure-2.1.data/scripts/tool", new byte[10],
                    "some_pure-2.1.data/purelib/beside.py", new byte[10]));
    private final TinyWheel other = TinyWheel.pure("other", "other.py");
    private final TinyWheel large = TinyWheel.of(
            "large",
            "3.0",
            "cp312-cp312-manylinux1_x86_64",
            Map.of("large/unwanted.so", noise(500_000), "large/lib/big.so", LIBRARY));
    private final TinyWheel house = TinyWheel.of(
            "large",
            "3.0",
            "graalpy312-graalpy250_312_native-linux_x86_64",
            Map.of("large/_C.so", noise(1000), "large/bin/helper", noise(10)));

    private TinyIndex index;

    @BeforeEach
    void start() throws IOException {
        index = new TinyIndex(pure, other, large);
    }

    @AfterEach
    void stop() {
        index.close();
    }

    @Test
    void packagesHouseWheelsAndExcerptsEndUpInSitePackages() throws IOException {
        Venv venv = install();

        Path packages = venv.sitePackages();
        assertTrue(Files.exists(packages.resolve("some_pure/__init__.py")));
        assertTrue(Files.exists(packages.resolve("some_pure-2.1.dist-info/METADATA")));
        assertTrue(Files.exists(packages.resolve("other.py")));
        assertTrue(Files.exists(packages.resolve("large/_C.so")));
        assertArrayEquals(LIBRARY, Files.readAllBytes(packages.resolve("large/lib/big.so")));
        assertTrue(Files.isExecutable(packages.resolve("large/bin/helper")));
        assertTrue(Files.exists(packages.resolve("truststore.py")));
    }

    @Test
    void nativeLibrariesAndScriptsOfIndexWheelsAreLeftOut() throws IOException {
        Path packages = install().sitePackages();

        assertFalse(Files.exists(packages.resolve("some_pure/fast.cpython-312-x86_64-linux-gnu.so")));
        assertFalse(Files.exists(packages.resolve("large/unwanted.so")));
        assertFalse(Files.exists(packages.resolve("some_pure-2.1.data")));
        assertTrue(Files.exists(packages.resolve("beside.py")));
    }

    @Test
    void theLayoutIsAnEnvironmentThatNamesItsFinalPlace() throws IOException {
        Venv venv = install();

        assertTrue(Files.isExecutable(venv.executable()));
        assertTrue(Files.readString(venv.home().resolve("pyvenv.cfg"))
                .contains("home = " + venv.home().resolve("bin")));
        assertEquals(venv.home().resolve("bin/python"), venv.executable());
        assertEquals(List.of("downloads", "venv-" + venv.digest(), "venv.lock"), names(cache()));
    }

    @Test
    void onlyTheWantedMembersOfALargeWheelAreFetched() throws IOException {
        install();

        long fetched = index.requestsFor(large).stream()
                .filter(r -> !r.contains("bytes="))
                .count();
        assertEquals(0, fetched, index.requests()::toString);
    }

    @Test
    void aServerThatRefusesRangesSendsTheLargeWheelWhole() throws IOException {
        index.answersRanges = false;

        Venv venv = install();

        assertArrayEquals(LIBRARY, Files.readAllBytes(venv.sitePackages().resolve("large/lib/big.so")));
        assertFalse(Files.exists(cache().resolve("downloads").resolve(large.file())), "the whole wheel is not kept");
    }

    @Test
    void anIndexOfHtmlPagesDoesAsWell() throws IOException {
        index.speaksJson = false;

        assertTrue(Files.exists(install().sitePackages().resolve("other.py")));
    }

    @Test
    void anUpToDateEnvironmentIsLeftAlone() throws IOException {
        Venv first = install();
        int asked = index.requests().size();
        var heard = new ArrayList<String>();

        Venv second = installer().install(cache(), hearing(heard));

        assertEquals(first, second);
        assertEquals(asked, index.requests().size());
        assertEquals(List.of(), heard);
    }

    @Test
    void aNewEnvironmentFromAFilledCacheNeedsNoNetwork() throws IOException {
        Layout.delete(install().home());
        index.close();

        assertArrayEquals(LIBRARY, Files.readAllBytes(install().sitePackages().resolve("large/lib/big.so")));
    }

    @Test
    void aChangedLockFileMakesAnotherEnvironmentBesideTheOld() throws IOException {
        Venv old = install();
        Lock more = new Lock(Lock.FORMAT, List.of(other.locked()), List.of(), List.of(house.locked()), List.of());

        Venv made = installer(more, LINUX).install(cache(), InstallProgress.none());

        assertFalse(made.home().equals(old.home()));
        assertFalse(Files.exists(made.sitePackages().resolve("some_pure")));
        assertTrue(Files.exists(old.sitePackages().resolve("some_pure")));
    }

    @Test
    void aFileWithAWrongHashIsRefusedByNameAndNotKept() throws IOException {
        index.serve(new TinyWheel(
                "other", "1.0", other.file(), TinyWheel.pure("other", "evil.py").bytes()));

        var e = assertThrows(VenvException.class, this::install);

        assertTrue(e.getMessage().contains(other.file()), e.getMessage());
        assertFalse(Files.exists(cache().resolve("downloads").resolve(other.file())));
        assertEquals(List.of("downloads", "venv.lock"), names(cache()));
    }

    @Test
    void aHouseWheelWithAWrongHashIsRefused() {
        var installer = new VenvInstaller(
                here(LINUX), file(lock()), wheel -> new ByteArrayInputStream(other.bytes()), () -> "", PATIENCE);

        var e = assertThrows(VenvException.class, () -> installer.install(cache(), InstallProgress.none()));

        assertTrue(
                e.getMessage().contains("the lock file says " + house.locked().sha256()), e.getMessage());
    }

    @Test
    void aBrokenConnectionIsGoneOnWithInTheSameRun() throws IOException {
        index.breaksAfter = 10_000;
        index.breaks = 3;

        install();

        assertTrue(index.requests().stream().anyMatch(r -> r.endsWith(" bytes=10000-")), index.requests()::toString);
    }

    @Test
    void aServerThatFallsSilentIsAskedAgain() throws IOException {
        index.breaksAfter = 10_000;
        index.breaks = 1;
        index.breaksBySilence = true;

        install();

        assertTrue(index.requests().stream().anyMatch(r -> r.endsWith(" bytes=10000-")), index.requests()::toString);
    }

    @Test
    void anInterruptedInstallationGoesOnInTheNextRun() throws IOException {
        index.breaksAfter = 1000;
        var e = assertThrows(VenvException.class, this::install);
        assertTrue(e.getMessage().contains("try again"), e.getMessage());
        index.requests().clear();
        index.breaksAfter = -1;

        install();

        assertTrue(
                index.requestsFor(pure).stream().allMatch(r -> r.contains("bytes=") && !r.contains("bytes=0-")),
                index.requests()::toString);
    }

    @Test
    void partsThatAreTooLongOrWrongAreFetchedAnew() throws IOException {
        Path downloads = Files.createDirectories(cache().resolve("downloads"));
        String sha = other.locked().sha256().substring(0, 8);
        Files.write(downloads.resolve(other.file() + "." + sha + ".part"), new byte[other.bytes().length + 1]);
        Files.write(downloads.resolve(pure.file()), new byte[pure.bytes().length]);

        assertTrue(Files.exists(install().sitePackages().resolve("other.py")));
    }

    @Test
    void aBrokenKeptMemberIsThrownAwayAndFetchedNextTime() throws IOException {
        Layout.delete(install().home());
        Path kept = cache().resolve("downloads/" + large.file() + ".members/big.so.deflate");
        byte[] bytes = Files.readAllBytes(kept);
        bytes[bytes.length / 2] ^= 1;
        Files.write(kept, bytes);

        assertThrows(VenvException.class, this::install);

        assertArrayEquals(LIBRARY, Files.readAllBytes(install().sitePackages().resolve("large/lib/big.so")));
    }

    @Test
    void aLargeWheelThatDiffersFromTheLockFileIsRefused() {
        index.serve(TinyWheel.of(
                "large",
                "3.0",
                "cp312-cp312-manylinux1_x86_64",
                Map.of("large/lib/big.so", noise(299_999), "large/x", noise(501_000))));

        var e = assertThrows(VenvException.class, this::install);

        assertTrue(e.getMessage().contains(large.file()), e.getMessage());
    }

    @Test
    void aPathThatLeadsOutOfAWheelIsRefused() {
        TinyWheel evil = TinyWheel.pure("evil", "../../../../../evil.py");
        index.serve(evil);
        Lock lock = new Lock(Lock.FORMAT, List.of(evil.locked()), List.of(), List.of(house.locked()), List.of());

        var e = assertThrows(
                VenvException.class, () -> installer(lock, LINUX).install(cache(), InstallProgress.none()));

        assertTrue(e.getMessage().contains("leads out of it"), e.getMessage());
    }

    @Test
    void aPackageThatNoIndexHasIsNamedWithWhereItWasLookedFor() {
        TinyWheel missing = TinyWheel.pure("missing_one", "missing.py");
        Lock lock = new Lock(Lock.FORMAT, List.of(missing.locked()), List.of(), List.of(house.locked()), List.of());

        var e = assertThrows(
                VenvException.class, () -> installer(lock, LINUX).install(cache(), InstallProgress.none()));

        assertTrue(e.getMessage().contains("missing_one 1.0"), e.getMessage());
        assertTrue(e.getMessage().contains("/root/simple/missing-one/ (answered 404)"), e.getMessage());
    }

    @Test
    void oneFileOfTheIndexIsFetchedOnce() throws IOException {
        var wheel = other.locked();
        for (int i = 0; i < 2; i++) {
            Path fetched = installer()
                    .fetch(cache(), "other", "1.0", wheel.file(), wheel.sha256(), wheel.size(), InstallProgress.none());
            assertArrayEquals(other.bytes(), Files.readAllBytes(fetched));
        }
        assertEquals(1, index.requestsFor(other).size());
    }

    @Test
    void wheelsInADirectoryOfFindLinksAreUsedWithoutNetwork() throws IOException {
        index.close();
        Path links = Files.createDirectory(directory.resolve("links"));
        for (TinyWheel wheel : List.of(pure, other, large)) {
            Files.write(links.resolve(wheel.file()), wheel.bytes());
        }
        var offline = new Surroundings(
                Map.of("PIP_FIND_LINKS", links.toString(), "PIP_NO_INDEX", "1", "PIP_CONFIG_FILE", "/dev/null"),
                directory,
                LINUX);

        Venv venv = new VenvInstaller(offline, file(lock()), this::house, () -> "", PATIENCE)
                .install(cache(), InstallProgress.none());

        assertArrayEquals(LIBRARY, Files.readAllBytes(venv.sitePackages().resolve("large/lib/big.so")));
    }

    @Test
    void aPlatformWithoutWheelsIsNamedWithTheScriptThatBuildsThem() {
        Platform mac = Platform.of("Mac OS X", "aarch64");

        var e = assertThrows(
                VenvException.class, () -> installer(lock(), mac).install(cache(), InstallProgress.none()));

        assertTrue(e.getMessage().contains("macosx_arm64"), e.getMessage());
        assertTrue(e.getMessage().contains("venv-setup/build-wheels"), e.getMessage());
        assertEquals(List.of(), index.requests());
    }

    @Test
    void severalThreadsInstallOnce() throws Exception {
        try (var pool = Executors.newFixedThreadPool(4)) {
            Callable<Venv> installing = this::install;
            var venvs = pool.invokeAll(List.of(installing, installing, installing, installing));
            for (var venv : venvs) {
                assertEquals(venvs.getFirst().get(), venv.get());
            }
        }
        assertEquals(1, index.requestsFor(other).size());
    }

    @Test
    void anotherProcessThatInstallsIsWaitedForAndNamed() throws Exception {
        Path lock = Files.createDirectories(cache()).resolve("venv.lock");
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockHolder.class.getName(),
                        lock.toString())
                .start();
        assertEquals('h', holder.getInputStream().read());
        var heard = new ArrayList<String>();

        try (var pool = Executors.newSingleThreadExecutor()) {
            var installing = pool.submit(() -> installer().install(cache(), hearing(heard)));
            Thread.sleep(200);
            assertFalse(installing.isDone());
            holder.destroyForcibly();
            assertTrue(Files.exists(installing.get().executable()));
        }
        assertTrue(heard.getFirst().contains("another installation"), heard::toString);
    }

    @Test
    void leftoversOfAKilledInstallationAreRemoved() throws IOException {
        Files.createDirectories(cache().resolve(".venv-0123456789abcdef/lib"));

        install();

        assertFalse(Files.exists(cache().resolve(".venv-0123456789abcdef")));
    }

    @Test
    void aFullDiskIsCalledFull() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full));
        Path downloads = Files.createDirectories(cache().resolve("downloads"));
        String sha = other.locked().sha256().substring(0, 8);
        Files.createSymbolicLink(downloads.resolve(other.file() + "." + sha + ".part"), full);

        var e = assertThrows(VenvException.class, this::install);

        assertTrue(e.getMessage().startsWith("the disk is full: "), e.getMessage());
        assertTrue(e.getMessage().contains("TORCH_ANE_CACHE"), e.getMessage());
    }

    @Test
    void aCacheThatCannotBeWrittenIsNamed() throws IOException {
        Files.writeString(cache(), "in the way");

        var e = assertThrows(VenvException.class, this::install);

        assertTrue(e.getMessage().contains(cache().toString()), e.getMessage());
    }

    @Test
    void progressNamesTheStagesAndReachesTheirTotals() {
        var heard = new ArrayList<String>();

        installer().install(cache(), hearing(heard));

        long packages = pure.bytes().length + other.bytes().length;
        assertTrue(heard.contains("download 2 Python packages " + packages + " bytes"), heard::toString);
        assertTrue(heard.contains(Long.toString(packages)), heard::toString);
        assertTrue(heard.stream().anyMatch(h -> h.startsWith("download 1 libraries of large ")), heard::toString);
        assertTrue(heard.stream().anyMatch(h -> h.startsWith("unpack ")), heard::toString);
    }

    private Venv install() {
        return installer().install(cache(), InstallProgress.none());
    }

    private VenvInstaller installer() {
        return installer(lock(), LINUX);
    }

    private VenvInstaller installer(Lock lock, Platform platform) {
        return new VenvInstaller(here(platform), file(lock), this::house, () -> "", PATIENCE);
    }

    private Surroundings here(Platform platform) {
        return new Surroundings(
                Map.of("PIP_INDEX_URL", index.url(), "PIP_CONFIG_FILE", "/dev/null", "NO_PROXY", "*"),
                directory,
                platform);
    }

    private ByteArrayInputStream house(Lock.Wheel wheel) {
        assertEquals(house.file(), wheel.file());
        return new ByteArrayInputStream(house.bytes());
    }

    private Lock lock() {
        try {
            return new Lock(
                    Lock.FORMAT,
                    List.of(pure.locked(), other.locked()),
                    List.of(large.excerpt(LINUX, Map.of("large/lib/big.so", LIBRARY))),
                    List.of(house.locked()),
                    List.of(new Lock.Absent("truststore", "refuses GraalPy", "truststore.py")));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static LockFile file(Lock lock) {
        try {
            return new LockFile(Lock.json().writeValueAsBytes(lock));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private Path cache() {
        return directory.resolve("cache");
    }

    private static List<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    private static InstallProgress hearing(List<String> heard) {
        return new InstallProgress() {
            @Override
            public void stage(String stage, long total, String unit) {
                heard.add(stage + " " + total + " " + unit);
            }

            @Override
            public void done(long units) {
                heard.add(Long.toString(units));
            }
        };
    }

    /** Bytes that do not compress. */
    private static byte[] noise(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
