package dev.torchane.engine.chunks;

import dev.torchane.TorchAneException;
import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import java.nio.file.Path;

/** One program of a model in chunks: its bundle is open, the program is loaded when it first runs. */
final class Chunk implements AutoCloseable {

    private final ChunkIndex.Part part;
    private final Bundle bundle;
    private final Engine engine;
    private final EngineOptions options;
    private LoadedProgram program;
    private boolean closed;

    private Chunk(ChunkIndex.Part part, Bundle bundle, Engine engine, EngineOptions options) {
        this.part = part;
        this.bundle = bundle;
        this.engine = engine;
        this.options = options;
    }

    static Chunk open(Bundle model, ChunkIndex.Part part, Engine engine, EngineOptions options) {
        Path manifest = model.file(part.path() + "/" + Bundle.MANIFEST)
                .orElseThrow(() -> new TorchAneException("the bundle " + model.directory() + " lacks the program "
                        + part.path() + " that its " + ChunkIndex.FILE + " names: build the model again"));
        return new Chunk(part, Bundle.open(manifest.getParent()), engine, options);
    }

    ChunkIndex.Part part() {
        return part;
    }

    /** A function, read from the bundle; nothing is loaded for it. */
    Function signature(String function) {
        return bundle.function(function);
    }

    Iterable<String> functions() {
        return bundle.functionNames();
    }

    LoadedFunction function(String name) {
        return program().function(name);
    }

    private synchronized LoadedProgram program() {
        if (closed) {
            throw new IllegalStateException("the model is closed");
        }
        if (program == null) {
            program = engine.load(bundle, options);
        }
        return program;
    }

    /** Reads the weights from the disk into the system's memory, for whoever loads them next. */
    void prefetch() {
        bundle.weights().prefetch();
    }

    /** Gives the system back the pages of the weight file; the engine keeps what it made of them. */
    void forgetFile() {
        bundle.weights().forget();
    }

    /** Lets the weights leave memory until the next call. */
    void release() {
        synchronized (this) {
            if (program == null || closed) {
                return;
            }
            program.releaseWeights();
        }
        forgetFile();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (program != null) {
            program.close();
        }
        bundle.close();
    }
}
