package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedFunction;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.lang.ref.Cleaner;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** A loaded program: weights packed, functions ready to be planned, threads waiting. */
final class JvmProgram implements LoadedProgram {

    /** Calls whose memory is kept for the next ones. */
    private static final int KEPT_CALLS = 2;

    private static final Cleaner CLEANER = Cleaner.create();

    private final Set<String> names;
    private final java.util.function.Function<String, Function> read;
    private final Map<String, Integer> rowAxes;
    private final Map<String, JvmFunction> functions = new HashMap<>();
    private final Set<StateMemory> memories = ConcurrentHashMap.newKeySet();
    private final WeightStore store;
    private final KernelSet kernels;
    private final SharedPool pool;
    private final EngineOptions options;
    /** Weights were let go once: those of a function are packed again, on all threads, when it is planned. */
    private volatile boolean released;

    private final ConcurrentLinkedDeque<Call> idle = new ConcurrentLinkedDeque<>();
    private final Lifetime lifetime = new Lifetime("the program", this::free);

    /**
     * Loads a program. Its first function is read, checked and its weights packed now; the others when they are asked for.
     *
     * @param names functions of the program
     * @param read reads a function
     */
    JvmProgram(
            List<String> names,
            java.util.function.Function<String, Function> read,
            Map<String, Integer> rowAxes,
            WeightSource source,
            KernelSet kernels,
            EngineOptions options) {
        this.options = options;
        this.names = Set.copyOf(names);
        this.read = read;
        this.rowAxes = rowAxes;
        this.store = new WeightStore(source, options.numerics());
        this.kernels = kernels;
        function(names.getFirst());
        this.pool = SharedPool.lease(threads(options));
        // For programs that nobody closes; the lease does not refer to its program.
        CLEANER.register(this, pool::close);
    }

    private static int threads(EngineOptions options) {
        return options.threads() > 0 ? options.threads() : Math.min(64, Cores.physical());
    }

    /** Packs the weights of a function's linear layers, on as many threads as there are processors. */
    private void pack(Function function) {
        Set<WeightRef> linear = new LinkedHashSet<>();
        Map<String, WeightRef> weights = weights(function);
        for (Operation operation : function.operations()) {
            if (operation.kind().equals("linear")) {
                operation
                        .input("weight")
                        .map(weight -> weights.get(weight.name()))
                        .filter(ref -> ref.type().rank() == 2)
                        .ifPresent(linear::add);
            }
        }
        try {
            pack(linear.stream()
                    .sorted(Comparator.comparingLong(WeightRef::storedBytes).reversed())
                    .toList());
        } catch (OutOfMemoryError e) {
            long bytes = linear.stream().mapToLong(WeightRef::storedBytes).sum();
            throw new TorchAneException(
                    "the linear layers of function '" + function.name() + "' take " + (bytes >> 20)
                            + " MB; Java may use " + (Runtime.getRuntime().maxMemory() >> 20)
                            + " MB in all: start it with a larger -Xmx",
                    e);
        }
        store.packed();
        function.states().forEach(state -> memories.add(memory(state.type())));
    }

    /** Each thread takes the largest that is left: a head begun last would keep one thread busy alone. */
    private void pack(List<WeightRef> largestFirst) {
        AtomicInteger next = new AtomicInteger();
        IntStream.range(0, Runtime.getRuntime().availableProcessors())
                .parallel()
                .forEach(thread -> {
                    for (int i = next.getAndIncrement(); i < largestFirst.size(); i = next.getAndIncrement()) {
                        // Kernels are warmed while the other weights are packed.
                        kernels.expect(store.panels(largestFirst.get(i)));
                    }
                });
    }

    private static Map<String, WeightRef> weights(Function function) {
        Map<String, WeightRef> weights = new HashMap<>();
        Constants constants = new Constants(function);
        for (Operation operation : function.operations()) {
            if (operation.kind().equals("const")) {
                Value value = operation.output();
                weights.put(
                        value.name(),
                        new WeightRef.Plain(value.type(), operation.constant().orElseThrow()));
            } else if (ConstantExpressions.known(operation.kind())) {
                weights.put(
                        operation.output().name(),
                        ConstantExpressions.weight(
                                operation, value -> constants.literal(value).orElse(null)));
            }
        }
        return weights;
    }

    @Override
    public Set<String> functions() {
        return names;
    }

    @Override
    public LoadedFunction function(String name) {
        if (!names.contains(name)) {
            throw new IllegalArgumentException(
                    "the program has no function '" + name + "'; it has " + new TreeSet<>(names));
        }
        synchronized (functions) {
            JvmFunction known = functions.get(name);
            if (known == null) {
                lifetime.require();
                Function function = read.apply(name);
                Planner.check(function);
                pack(function);
                known = new JvmFunction(this, function, rowAxes);
                functions.put(name, known);
            }
            return known;
        }
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /** How a state of this type is kept. */
    StateMemory memory(TensorType declared) {
        return StateMemory.of(declared, options);
    }

    Plan plan(Function function) {
        if (released) {
            pack(function);
        }
        return Planner.plan(Planner.prepare(function, options.numerics()), store, options);
    }

    /** Memory for one call. */
    Call begin() {
        Call call = idle.pollFirst();
        return call == null ? new Call(kernels, pool.pool()) : call;
    }

    void end(Call call) {
        kernels.firstRunEnded(memories);
        if (idle.size() < KEPT_CALLS) {
            idle.addFirst(call);
        }
    }

    @Override
    public void releaseWeights() {
        released = true;
        store.clear();
        synchronized (functions) {
            functions.values().forEach(JvmFunction::forget);
        }
    }

    @Override
    public void close() {
        lifetime.close();
    }

    private void free() {
        pool.close();
        store.clear();
        idle.clear();
        synchronized (functions) {
            functions.values().forEach(JvmFunction::forget);
        }
    }
}
