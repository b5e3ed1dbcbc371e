package dev.torchane.program;

import java.nio.file.Path;

/** A built model on disk: program, weights, manifest, tokenizer files. Read-only once it exists. */
public final class Bundle implements AutoCloseable {

    private final Path directory;

    private Bundle(Path directory) {
        this.directory = directory;
    }

    /** Where the bundle lies. */
    public Path directory() {
        return directory;
    }

    @Override
    public void close() {}
}
