package dev.torchane.venv;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;

/** The bytes of a lock file: enough to know whether an environment is up to date, without parsing. */
record LockFile(byte[] bytes) {

    /** The one among the resources of this artifact. */
    static LockFile own() {
        try (InputStream in = LockFile.class.getResourceAsStream("venv.lock")) {
            return new LockFile(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException("the resource venv.lock could not be read", e);
        }
    }

    void addTo(MessageDigest digest) {
        digest.update(bytes);
    }

    Lock parsed() {
        try {
            return Lock.read(new ByteArrayInputStream(bytes));
        } catch (IOException e) {
            throw new VenvException("venv.lock is no lock file: " + e.getMessage(), e);
        }
    }
}
