package dev.torchane.engine.chunks;

import dev.torchane.engine.Engine;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A model in chunks as one program: its functions run those of the chunks one after another, its state is all of theirs. Whoever runs
 * it need not know of chunks. A chunk is loaded when it first runs.
 */
public final class ChunkedProgram implements LoadedProgram {

    private final List<Chunk> layers;
    private final List<Chunk> heads;
    private final Residency residency;
    private final Set<String> names = new LinkedHashSet<>();
    private final Map<String, ChunkedFunction> functions = new HashMap<>();
    private boolean closed;

    private ChunkedProgram(List<Chunk> layers, List<Chunk> heads, Residency residency) {
        this.layers = layers;
        this.heads = heads;
        this.residency = residency;
        layers.getFirst().functions().forEach(names::add);
    }

    /**
     * Loads a model: opens the bundles of its chunks, and loads none of them yet.
     *
     * @param residentBytes weights that may stay in memory between calls; 0 takes what the engine has room for. The others are read
     *     again for each call
     */
    public static LoadedProgram load(Bundle model, Engine engine, EngineOptions options, long residentBytes) {
        ChunkIndex index = ChunkIndex.read(model);
        List<Chunk> opened = new ArrayList<>();
        try {
            index.chunks().forEach(part -> opened.add(Chunk.open(model, part, engine, options)));
            index.heads().forEach(part -> opened.add(Chunk.open(model, part, engine, options)));
        } catch (RuntimeException e) {
            opened.forEach(Chunk::close);
            throw e;
        }
        int count = index.chunks().size();
        return new ChunkedProgram(
                List.copyOf(opened.subList(0, count)),
                List.copyOf(opened.subList(count, opened.size())),
                new Residency(List.copyOf(opened), residentBytes > 0 ? residentBytes : engine.weightMemory()));
    }

    @Override
    public Set<String> functions() {
        return Set.copyOf(names);
    }

    @Override
    public LoadedFunction function(String name) {
        if (!names.contains(name)) {
            throw new IllegalArgumentException(
                    "the program has no function '" + name + "'; it has " + new TreeSet<>(names));
        }
        synchronized (functions) {
            if (closed) {
                throw new IllegalStateException("the program is closed");
            }
            return functions.computeIfAbsent(name, each -> new ChunkedFunction(layers, heads, residency, each));
        }
    }

    @Override
    public void releaseWeights() {
        layers.forEach(Chunk::release);
        heads.forEach(Chunk::release);
    }

    @Override
    public void close() {
        synchronized (functions) {
            if (closed) {
                return;
            }
            closed = true;
        }
        residency.close();
        layers.forEach(Chunk::close);
        heads.forEach(Chunk::close);
    }
}
