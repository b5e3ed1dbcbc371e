package dev.torchane.engine;

import dev.torchane.program.Bundle;
import java.util.List;
import java.util.ServiceLoader;

/** Something that runs programs. Implementations are found with {@link ServiceLoader}. */
public interface Engine {

    /** Short name, such as {@code jvm}. */
    String name();

    /** Whether this engine can run here; when not, the reason is in {@link #unavailableReason()}. */
    boolean available();

    /** Why {@link #available()} is false, for people; empty when it is true. */
    String unavailableReason();

    /**
     * Loads a bundle.
     *
     * @throws dev.torchane.TorchAneException when the engine cannot run this bundle: its target, an operation, a type
     */
    LoadedProgram load(Bundle bundle, EngineOptions options);

    /** Bytes of weights that it is sensible to keep loaded here. */
    default long weightMemory() {
        return Long.MAX_VALUE;
    }

    /** Name of the engine where nobody chooses one: {@code -Dtorchane.engine}, or {@code jvm}. */
    static String defaultName() {
        return System.getProperty("torchane.engine", "jvm");
    }

    /**
     * The engine with a name.
     *
     * @throws IllegalArgumentException when there is none; the message lists what there is
     */
    static Engine named(String name) {
        List<Engine> engines = ServiceLoader.load(Engine.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        for (Engine engine : engines) {
            if (engine.name().equals(name)) {
                return engine;
            }
        }
        throw new IllegalArgumentException("no engine is called '" + name + "'; there is "
                + engines.stream().map(Engine::name).toList());
    }
}
