package dev.torchane.cli;

import dev.torchane.Cancellation;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** While it is open, Ctrl-C cancels a generation and the process ends when what there is has been printed. */
final class StopOnCtrlC implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 5;

    private final Cancellation cancellation = new Cancellation();
    private final CountDownLatch printed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::stop, "ctrl-c");

    StopOnCtrlC() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** To be given to the generation. */
    Cancellation cancellation() {
        return cancellation;
    }

    private void stop() {
        cancellation.cancel();
        try {
            printed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What there is has been printed. */
    @Override
    public void close() {
        printed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // the process ends already, and waits for nothing more
        }
    }
}
