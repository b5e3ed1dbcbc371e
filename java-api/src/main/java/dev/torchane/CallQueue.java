package dev.torchane;

import dev.torchane.engine.State;
import dev.torchane.engine.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Calls of programs' functions, one behind the other on a thread of their own. Calls are enqueued without waiting, and a call may
 * take what an earlier one of this queue will give; whoever needs a result waits for that call alone, or gives it a completion
 * handler. So the hardware goes from call to call while nobody else is woken in between.
 *
 * <pre>{@code
 * try (CallQueue queue = new CallQueue()) {
 *     Call first = queue.enqueue(program, "attention", Map.of("x", given(x)));
 *     Call second = queue.enqueue(program, "mlp", Map.of("x", first.output("y")));
 *     Tensor y = second.await().get("y");
 * }
 * }</pre>
 */
public final class CallQueue implements AutoCloseable {

    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("torch-ane-calls").factory());

    /** An empty queue. */
    public CallQueue() {}

    /** Where an input comes from. */
    public sealed interface Source {}

    /** A tensor that is there. */
    record Given(Tensor tensor) implements Source {}

    /** What an earlier call will give. */
    record Output(Call call, String name) implements Source {}

    /** A tensor that is there; it must not change until the call is done. */
    public static Source given(Tensor tensor) {
        return new Given(Arguments.given(tensor, "tensor"));
    }

    /** A call that was enqueued. */
    public final class Call {

        private final CompletableFuture<Map<String, Tensor>> done = new CompletableFuture<>();

        private Call() {}

        private CallQueue queue() {
            return CallQueue.this;
        }

        /** A result of this call, as an input of later ones of the same queue. */
        public Source output(String name) {
            return new Output(this, Arguments.given(name, "name"));
        }

        /** The results by name, when the call is done; an input of a call that failed fails with its cause. */
        public CompletableFuture<Map<String, Tensor>> results() {
            return done.copy();
        }

        /** Has a handler called with the results, on the queue's thread before its next call: it must return quickly. */
        public Call onDone(Consumer<Map<String, Tensor>> handler) {
            done.thenAccept(Arguments.given(handler, "handler"));
            return this;
        }

        /**
         * Waits for the results.
         *
         * @throws RuntimeException what the call failed with
         */
        public Map<String, Tensor> await() {
            try {
                return done.join();
            } catch (CompletionException failure) {
                if (failure.getCause() instanceof RuntimeException cause) {
                    throw cause;
                }
                throw failure;
            }
        }
    }

    /** Enqueues a call of a function without states, or with fresh ones. */
    public Call enqueue(MilProgram program, String function, Map<String, Source> inputs) {
        return enqueue(program, function, inputs, Optional.empty());
    }

    /** Enqueues a call that reads and writes a state. */
    public Call enqueue(MilProgram program, String function, Map<String, Source> inputs, State state) {
        return enqueue(program, function, inputs, Optional.of(state));
    }

    private Call enqueue(MilProgram program, String function, Map<String, Source> inputs, Optional<State> state) {
        Arguments.given(program, "program");
        Map<String, Source> sources = Map.copyOf(inputs);
        sources.forEach((name, source) -> {
            if (source instanceof Output output && output.call().queue() != this) {
                throw new IllegalArgumentException("input '" + name + "' of '" + function
                        + "' is the result of a call of another queue: wait for that call first");
            }
        });
        Call call = new Call();
        try {
            thread.execute(() -> run(program, function, sources, state, call));
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("this queue is closed", e);
        }
        return call;
    }

    private static void run(
            MilProgram program, String function, Map<String, Source> sources, Optional<State> state, Call call) {
        Map<String, Tensor> results;
        try {
            Map<String, Tensor> inputs = new LinkedHashMap<>();
            sources.forEach((name, source) -> inputs.put(name, tensor(function, name, source)));
            results = state.isPresent() ? program.run(function, inputs, state.get()) : program.run(function, inputs);
        } catch (Throwable failure) {
            call.done.completeExceptionally(failure);
            return;
        }
        call.done.complete(results);
    }

    /** Earlier calls of the queue are done when this one begins. */
    private static Tensor tensor(String function, String input, Source source) {
        return switch (source) {
            case Given(Tensor tensor) -> tensor;
            case Output(Call call, String name) -> {
                Map<String, Tensor> results = call.await();
                if (!results.containsKey(name)) {
                    throw new IllegalArgumentException("input '" + input + "' of '" + function
                            + "' is to be the output '" + name + "' of a call that gives " + results.keySet());
                }
                yield results.get(name);
            }
        };
    }

    /** Takes no more calls, and returns when those that were enqueued are done. */
    @Override
    public void close() {
        thread.close();
    }
}
