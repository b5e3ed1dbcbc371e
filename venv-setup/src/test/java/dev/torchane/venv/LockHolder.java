package dev.torchane.venv;

import java.nio.file.Path;

/** A process that holds an installation's lock until it is killed. */
final class LockHolder {

    private LockHolder() {}

    public static void main(String[] arguments) throws Exception {
        try (var _ = InstallLock.acquire(Path.of(arguments[0]), () -> {})) {
            System.out.println("held");
            Thread.sleep(60_000);
        }
    }
}
