package dev.torchane;

import dev.torchane.build.Exporter;
import dev.torchane.build.ModuleSource;
import dev.torchane.engine.Engine;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.Bundle;
import dev.torchane.program.Function;
import dev.torchane.program.Manifest;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/**
 * A module as a program: tensors in, tensors out, by name. {@link TorchAne#compile} makes one.
 *
 * <pre>{@code
 * ModuleSource source = ModuleSource.factory(Path.of("python"), "shapes.model:build");
 * try (CompiledModule module = TorchAne.compile(source, ModuleInputs.of("x", TensorType.of(DType.FP32, 1, 3)))) {
 *     Tensor y = module.run(Map.of("x", Tensor.of(TensorType.of(DType.FP32, 1, 3), 1, 2, 3))).get("output");
 * }
 * }</pre>
 *
 * <p>Any number of threads may run it at once, and any may close it: a call that is running then ends with an
 * {@link IllegalStateException} after the operation it is at.
 */
public final class CompiledModule implements AutoCloseable {

    private final Bundle bundle;
    private final LoadedProgram program;
    private final Optional<ModuleSource> source;
    private final CompileOptions options;
    private final List<LoadedFunction> functions = new ArrayList<>();
    private final SharedUse use;
    private final Executor background;

    private CompiledModule(
            Bundle bundle, LoadedProgram program, Optional<ModuleSource> source, CompileOptions options) {
        this.bundle = bundle;
        this.program = program;
        this.source = source;
        this.options = options;
        bundle.functionNames().forEach(name -> functions.add(program.function(name)));
        this.use = new SharedUse("module", () -> {
            program.close();
            bundle.close();
        });
        this.background = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().daemon().name("torch-ane-module-", 0).factory());
    }

    /**
     * A module from its bundle. No Python is needed.
     *
     * @throws TorchAneException when the bundle is damaged or is no module, or the engine cannot run it
     */
    public static CompiledModule open(Path bundle, CompileOptions options) {
        return open(Arguments.given(bundle, "bundle"), Optional.empty(), Arguments.given(options, "options"));
    }

    static CompiledModule open(Path directory, Optional<ModuleSource> source, CompileOptions options) {
        Bundle bundle = Bundle.open(directory);
        try {
            if (!bundle.manifest().kind().equals(Manifest.MODULE)) {
                throw new TorchAneException(directory + " is a "
                        + bundle.manifest().kind() + ", not a compiled module: open it with CausalLM.open");
            }
            LoadedProgram program = Engine.named(options.engine()).load(bundle, options.engineOptions());
            try {
                return new CompiledModule(bundle, program, source, options);
            } catch (RuntimeException | Error failure) {
                program.close();
                throw failure;
            }
        } catch (RuntimeException | Error failure) {
            bundle.close();
            throw failure;
        }
    }

    /** Type of each input of the first function, in order. */
    public Map<String, TensorType> inputs() {
        return types(functions.getFirst().signature().tensors());
    }

    /**
     * Type of each output of the first function, in order. A tensor that the module answers alone is {@code output}, items of a
     * tuple are {@code output_0}, …; what would be called as an input has {@code _out} behind its name.
     */
    public Map<String, TensorType> outputs() {
        return types(functions.getFirst().signature().outputs());
    }

    /** The inputs of every function: the shapes that this module was compiled for. */
    public List<Map<String, TensorType>> shapes() {
        return functions.stream()
                .map(function -> types(function.signature().tensors()))
                .toList();
    }

    /** What was built. */
    public Manifest manifest() {
        return bundle.manifest();
    }

    /** Directory of the bundle. */
    public Path bundle() {
        return bundle.directory();
    }

    /**
     * Computes the outputs.
     *
     * @param inputs a tensor for each input, of exactly its type; where there are several functions, those of one of them
     * @return the outputs by name; the tensors belong to the caller
     * @throws IllegalArgumentException when inputs fit no function; the message names them and lists what there is
     * @throws IllegalStateException after {@link #close()}
     */
    public Map<String, Tensor> run(Map<String, Tensor> inputs) {
        return run(inputs, () -> false);
    }

    /**
     * As {@link #run(Map)}, unless it is cancelled meanwhile.
     *
     * @param cancelled asked between operations, from this thread
     * @throws CancellationException when it answered true
     */
    public Map<String, Tensor> run(Map<String, Tensor> inputs, BooleanSupplier cancelled) {
        return run(function(Arguments.given(inputs, "inputs")), inputs, Arguments.given(cancelled, "cancelled"));
    }

    private Map<String, Tensor> run(LoadedFunction function, Map<String, Tensor> inputs, BooleanSupplier cancelled) {
        try {
            return use.run(
                    () -> function.run(inputs, function.newState(), () -> use.isClosed() || cancelled.getAsBoolean()));
        } catch (CancellationException stopped) {
            if (use.isClosed()) {
                throw new IllegalStateException("this module was closed while a call was running", stopped);
            }
            throw stopped;
        }
    }

    /**
     * As {@link #run}, on a thread of its own: the next inputs can be prepared meanwhile. Inputs are checked at once and must not
     * change until the future is done. Cancelling the future, or completing it in another way, ends the call after the operation
     * that is running.
     */
    public CompletableFuture<Map<String, Tensor>> runAsync(Map<String, Tensor> inputs) {
        LoadedFunction function = function(Arguments.given(inputs, "inputs"));
        use.requireOpen();
        CompletableFuture<Map<String, Tensor>> future = new CompletableFuture<>();
        background.execute(() -> {
            try {
                future.complete(run(function, inputs, future::isDone));
            } catch (Throwable failure) {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }

    /**
     * Compares this module with torch on inputs, in this process; Python runs.
     *
     * @throws TorchAneException when this module was opened from a bundle alone, or nothing that runs torch is on the class path
     */
    public Validation validate(Map<String, Tensor> inputs) {
        ModuleSource origin = source.orElseThrow(() -> new TorchAneException("the module was opened from its bundle "
                + bundle.directory() + " alone: only TorchAne.compile knows the source to compare it with"));
        Map<String, Tensor> found = run(inputs);
        Exporter exporter = CachedBuild.exporter()
                .orElseThrow(
                        () -> new TorchAneException("torch is not on the class path: add " + TorchAne.HOST_ARTIFACT));
        return Comparison.of(found, exporter.runModule(origin, inputs, options.progress()));
    }

    /** As {@link #validate(Map)}, on random inputs: normal numbers, truth values, and 0 and 1 for integers; the same ones each time. */
    public Validation validate() {
        return validate(Comparison.inputs(inputs()));
    }

    private LoadedFunction function(Map<String, Tensor> inputs) {
        if (functions.size() > 1) {
            for (LoadedFunction function : functions) {
                if (fits(function.signature(), inputs)) {
                    return function;
                }
            }
            Map<String, TensorType> given = new LinkedHashMap<>();
            inputs.forEach((name, tensor) -> given.put(name, tensor.type()));
            throw new IllegalArgumentException(
                    "inputs of types " + given + " fit no function; the module was compiled for " + shapes());
        }
        return functions.getFirst();
    }

    private static boolean fits(Function function, Map<String, Tensor> inputs) {
        return function.tensors().size() == inputs.size()
                && function.tensors().stream()
                        .allMatch(input -> inputs.containsKey(input.name())
                                && inputs.get(input.name()).type().equals(input.type()));
    }

    private static Map<String, TensorType> types(List<Value> values) {
        Map<String, TensorType> types = new LinkedHashMap<>();
        values.forEach(value -> types.put(value.name(), value.type()));
        return java.util.Collections.unmodifiableMap(types);
    }

    /** Frees the program when no call runs any more; idempotent, and from any thread. */
    @Override
    public void close() {
        use.close();
    }
}
