package dev.torchane.engine.coreai;

import dev.torchane.engine.ComputeUnits;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Bundle;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A program that the helper process has loaded, or will again after it was started anew. Calls of one process follow each other. */
final class CoreAiProgram implements LoadedProgram {

    private final HelperLink link;
    private final ComputeUnits units;
    private final long number;
    private final Path model;
    private final Map<String, CoreAiFunction> functions = new LinkedHashMap<>();
    private int generation;
    private boolean closed;

    CoreAiProgram(HelperLink link, Bundle bundle, ComputeUnits units, CoreAiOptions options) {
        this.link = link;
        this.units = units;
        this.number = link.number();
        if (units == ComputeUnits.ANE) {
            bundle.program().functions().forEach(AneWeights::check);
        }
        this.model = link.file("model-" + number + CoreAiModel.SUFFIX);
        CoreAiModel.write(link, bundle, model, options);
        for (String name : options.functions().isEmpty() ? bundle.functionNames() : options.functions()) {
            functions.put(name, new CoreAiFunction(this, bundle.function(name)));
        }
        ready();
    }

    HelperLink link() {
        return link;
    }

    long number() {
        return number;
    }

    /** The present process's generation, with the program loaded in it. Held under the link's lock. */
    int ready() {
        int now = link.generation();
        if (now != generation) {
            link.call("{\"op\":\"load\",\"program\":%d,\"path\":%s,\"units\":\"%s\"}"
                    .formatted(number, HelperProcess.json(model), units.name().toLowerCase(Locale.ROOT)));
            generation = now;
        }
        return now;
    }

    /** Whether the process of a generation still has the program. Held under the link's lock. */
    boolean isReady(int then) {
        return !closed
                && then == generation
                && link.handle().map(ProcessHandle::isAlive).orElse(false);
    }

    void require() {
        if (closed) {
            throw new IllegalStateException("the program is closed");
        }
    }

    @Override
    public Set<String> functions() {
        return functions.keySet();
    }

    @Override
    public LoadedFunction function(String name) {
        synchronized (link) {
            require();
        }
        CoreAiFunction function = functions.get(name);
        if (function == null) {
            throw new IllegalArgumentException(
                    "the program has no function '" + name + "'; it has " + new TreeSet<>(functions.keySet()));
        }
        return function;
    }

    @Override
    public String runsOn() {
        return link.runtime() + (link.onAppleHardware() ? ", " + units : ", whatever hardware is asked for");
    }

    @Override
    public void close() {
        synchronized (link) {
            if (closed) {
                return;
            }
            boolean alive = isReady(generation);
            closed = true;
            functions.values().forEach(CoreAiFunction::close);
            try {
                if (alive) {
                    link.call("{\"op\":\"unload\",\"program\":%d}".formatted(number));
                }
            } catch (CoreAiException e) {
                // It is gone, and the program with it.
            }
        }
        link.release();
    }
}
