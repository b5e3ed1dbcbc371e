package dev.torchane;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A generation that one subscriber follows. It begins with the first demand and computes while there is demand, on virtual threads, one
 * after another; so no token is computed that nobody asked for.
 */
final class TokenSubscription implements Flow.Subscription {

    private final Flow.Subscriber<? super Token> subscriber;
    private final Function<Consumer<Token>, GenerationRun> start;
    private final AtomicLong demand = new AtomicLong();
    private volatile boolean cancelled;
    private volatile Optional<Throwable> failure = Optional.empty();
    private volatile Optional<GenerationRun> run = Optional.empty();

    /** Of the thread that works. */
    private final Queue<Token> tokens = new ArrayDeque<>();

    private boolean ended;

    /** Guarded by this. */
    private boolean working = true;

    private boolean wanted;

    private TokenSubscription(
            Flow.Subscriber<? super Token> subscriber, Function<Consumer<Token>, GenerationRun> start) {
        this.subscriber = Objects.requireNonNull(subscriber, "subscriber");
        this.start = start;
    }

    /**
     * Subscribes; computes nothing before the first demand.
     *
     * @param start begins the generation, which hands its tokens to what it is given
     */
    static void begin(Flow.Subscriber<? super Token> subscriber, Function<Consumer<Token>, GenerationRun> start) {
        TokenSubscription subscription = new TokenSubscription(subscriber, start);
        subscriber.onSubscribe(subscription);
        if (subscription.goOn()) {
            subscription.startWorking();
        }
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            failure = Optional.of(new IllegalArgumentException("the demand must be positive, found " + count));
        } else {
            demand.accumulateAndGet(count, (old, more) -> old + more < 0 ? Long.MAX_VALUE : old + more);
        }
        wake();
    }

    @Override
    public void cancel() {
        cancelled = true;
        run.ifPresent(GenerationRun::cancel);
        wake();
    }

    private void wake() {
        synchronized (this) {
            wanted = true;
            if (working) {
                return;
            }
            working = true;
            wanted = false;
        }
        startWorking();
    }

    /** Whether there was a {@link #wake} since the work began; if not, the work is over. */
    private synchronized boolean goOn() {
        working = wanted;
        wanted = false;
        return working;
    }

    private void startWorking() {
        Thread.ofVirtual().name("generation").start(() -> {
            do {
                work();
            } while (goOn());
        });
    }

    private void work() {
        while (!cancelled) {
            if (demand.get() > 0 && !tokens.isEmpty()) {
                demand.decrementAndGet();
                signal(() -> subscriber.onNext(tokens.remove()));
            } else if (failure.isPresent()) {
                cancelled = true;
                signal(this::closeRun);
                signal(() -> subscriber.onError(failure.get()));
            } else if (ended && tokens.isEmpty()) {
                cancelled = true;
                signal(subscriber::onComplete);
            } else if (demand.get() > 0) {
                compute();
            } else {
                return;
            }
        }
        tokens.clear();
        signal(this::closeRun);
    }

    private void closeRun() {
        run.ifPresent(GenerationRun::close);
    }

    private void compute() {
        try {
            if (run.isEmpty()) {
                run = Optional.of(start.apply(tokens::add));
            }
            ended = !run.get().step();
        } catch (Throwable thrown) {
            failure = Optional.of(thrown);
        }
    }

    /** A subscriber that throws breaks its contract; it is taken to have cancelled. */
    private void signal(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error thrown) {
            cancelled = true;
            System.getLogger(TokenSubscription.class.getName())
                    .log(
                            System.Logger.Level.WARNING,
                            "a subscriber or listener threw; its generation is cancelled",
                            thrown);
        }
    }
}
