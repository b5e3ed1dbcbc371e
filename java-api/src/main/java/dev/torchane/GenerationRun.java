package dev.torchane;

import dev.torchane.llm.GenerationLoop;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * A generation that holds its model until it ends. It is driven step by step, from one thread after another; cancelled and closed from
 * any.
 */
final class GenerationRun implements AutoCloseable {

    /**
     * What is driven.
     *
     * @param text the stream
     * @param step takes one token; false when the stream has ended
     */
    record Drive(TextGeneration text, BooleanSupplier step) {

        /** A loop, with proposed tokens as the options want them. */
        static Drive of(TextGeneration text, GenerationLoop loop, GenerateOptions options) {
            options.draftModel()
                    .map(Session::proposals)
                    .map(loop::speculate)
                    .or(() -> options.promptLookup() ? Optional.of(loop.speculate()) : Optional.empty());
            return new Drive(text, loop::step);
        }
    }

    private final OneCallAtATime calls;
    private final OneCallAtATime.Claim claim;
    private final Drive drive;
    private final ReentrantLock lock = new ReentrantLock();
    private Optional<Generation> result = Optional.empty();
    private boolean over;

    GenerationRun(OneCallAtATime calls, OneCallAtATime.Claim claim, Drive drive) {
        this.calls = calls;
        this.claim = claim;
        this.drive = drive;
    }

    /**
     * Takes one token, and ends the run with the last.
     *
     * @return whether there is more to come
     * @throws GenerationException when something fails; the run is over then
     * @throws IllegalStateException when the model was closed, or a listener of the run takes a step of it
     */
    boolean step() {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("a listener cannot take the next token of the generation it listens to");
        }
        lock.lock();
        try {
            if (over) {
                return false;
            }
            boolean more = guarded();
            if (!more) {
                release();
            }
            return more;
        } finally {
            lock.unlock();
        }
    }

    private boolean guarded() {
        boolean failed = true;
        try {
            boolean more = claim.use(drive.step()::getAsBoolean);
            if (!more) {
                result = Optional.of(claim.held(drive.text()::end));
            }
            failed = false;
            return more;
        } catch (RuntimeException failure) {
            throw calls.explained(claim.held(() -> drive.text().failed(failure)));
        } finally {
            if (failed) {
                release();
            }
        }
    }

    private void release() {
        over = true;
        claim.release();
    }

    /** Steps to the end. */
    Generation run() {
        while (step()) {
            // each step is one token
        }
        return result.orElseThrow();
    }

    /** Ends the run within one step; from any thread. */
    void cancel() {
        claim.ending();
        drive.text().tokens().cancel();
    }

    /** Cancels it and waits for the step that another thread is taking; what its listeners throw then reaches the caller. */
    @Override
    public void close() {
        cancel();
        if (lock.isHeldByCurrentThread()) {
            return;
        }
        try {
            step();
        } catch (IllegalStateException modelClosed) {
            // then there is nothing left to end
        }
    }
}
