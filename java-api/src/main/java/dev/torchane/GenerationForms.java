package dev.torchane;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Spliterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The forms in which one and the same generation is had: awaited, in the background, as a stream, published. */
final class GenerationForms {

    private final OneCallAtATime calls;

    GenerationForms(OneCallAtATime calls) {
        this.calls = calls;
    }

    /** Claims the model and makes ready; nothing is computed yet. */
    GenerationRun start(GenerateOptions options, Function<GenerateOptions, GenerationRun.Drive> prepare) {
        OneCallAtATime.Claim claim = calls.claim();
        try {
            return new GenerationRun(calls, claim, claim.use(() -> prepare.apply(options)));
        } catch (Throwable refusal) {
            claim.release();
            throw refusal;
        }
    }

    Generation await(GenerateOptions options, Function<GenerateOptions, GenerationRun.Drive> prepare) {
        return start(options, prepare).run();
    }

    CompletableFuture<Generation> background(
            GenerateOptions options, Function<GenerateOptions, GenerationRun.Drive> prepare) {
        GenerationRun run = start(options, prepare);
        CompletableFuture<Generation> future = new CompletableFuture<>();
        future.whenComplete((generation, failure) -> run.cancel());
        Thread.ofVirtual().name("generation").start(() -> {
            try {
                future.complete(run.run());
            } catch (Throwable failure) {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }

    Stream<Token> stream(GenerateOptions options, Function<GenerateOptions, GenerationRun.Drive> prepare) {
        Queue<Token> tokens = new ArrayDeque<>();
        GenerationRun run = start(handingTo(tokens::add, options), prepare);
        return StreamSupport.stream(new Pulled(run, tokens), false).onClose(run::close);
    }

    Flow.Publisher<Token> publisher(GenerateOptions options, Function<GenerateOptions, GenerationRun.Drive> prepare) {
        return subscriber -> TokenSubscription.begin(subscriber, tokens -> start(handingTo(tokens, options), prepare));
    }

    /** Takes a step when a token is wanted. */
    private record Pulled(GenerationRun run, Queue<Token> tokens) implements Spliterator<Token> {

        @Override
        public boolean tryAdvance(Consumer<? super Token> action) {
            while (tokens.isEmpty() && run.step()) {
                // a step gives a token or ends the run
            }
            Token token = tokens.poll();
            if (token != null) {
                action.accept(token);
            }
            return token != null;
        }

        @Override
        public Spliterator<Token> trySplit() {
            return null;
        }

        @Override
        public long estimateSize() {
            return Long.MAX_VALUE;
        }

        @Override
        public int characteristics() {
            return ORDERED | NONNULL;
        }
    }

    /** The options with one more listener for tokens, behind the caller's own. */
    private static GenerateOptions handingTo(Consumer<Token> more, GenerateOptions options) {
        return options.withOnToken(options.listeners().onToken().andThen(more));
    }
}
