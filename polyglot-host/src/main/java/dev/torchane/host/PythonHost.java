package dev.torchane.host;

import dev.torchane.TorchAneException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import org.graalvm.polyglot.PolyglotException;

/**
 * The one GraalPy context of this process. Native extensions such as torch's can be loaded by one context only, so it is
 * created on first use, stays until the process ends, and every caller shares it.
 *
 * <p>One platform thread with a large stack owns it and runs every call, one after another; callers on any thread,
 * virtual ones included, wait for their call. A call from within a call (Python calling Java calling Python) runs at once.
 */
final class PythonHost {

    /** Tracing recurses deeply, and an interpreted Python frame takes several Java frames. */
    private static final long STACK_BYTES = 128L << 20;

    private static final Object LOCK = new Object();
    private static PythonHost running;

    private final LinkedBlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private final Thread owner;
    private final PythonSettings settings;
    private PythonContext context;

    private PythonHost(PythonSettings settings) {
        this.settings = settings;
        owner = Thread.ofPlatform()
                .name("torch-ane-python")
                .daemon()
                .stackSize(STACK_BYTES)
                .unstarted(this::work);
    }

    /**
     * The host of this process; the first call starts it.
     *
     * @throws TorchAneException when Python cannot be started, or runs already with another environment
     */
    static PythonHost start(PythonSettings settings) {
        synchronized (LOCK) {
            if (running == null) {
                PythonHost host = new PythonHost(settings);
                host.owner.start();
                try {
                    host.run(() -> {
                        host.context = PythonContext.create(settings);
                        return null;
                    });
                } catch (Throwable e) {
                    host.stop();
                    throw e;
                }
                running = host;
            } else if (!running.settings.equals(settings)) {
                throw new TorchAneException("Python runs in this process already, with " + running.settings
                        + "; a process has one Python environment, so it cannot start again with " + settings);
            }
            return running;
        }
    }

    /**
     * Runs a call on the owner thread and waits for it. Nothing that belongs to Python may be part of the result.
     *
     * @throws TorchAneException when Python raises; its cause carries the Python traceback
     */
    <T> T call(Function<PythonContext, T> call) {
        return run(() -> call.apply(context));
    }

    private <T> T run(Callable<T> call) {
        if (Thread.currentThread() == owner) {
            return guarded(call);
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        calls.add(() -> {
            try {
                result.complete(guarded(call));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.join();
        } catch (CompletionException e) {
            throw PythonErrors.onCallersThread(e.getCause());
        }
    }

    private <T> T guarded(Callable<T> call) {
        try {
            return call.call();
        } catch (PolyglotException e) {
            throw PythonErrors.translate(e, traceback(e));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            throw new TorchAneException("the call into Python failed: " + e.getMessage(), e);
        }
    }

    private Optional<String> traceback(PolyglotException e) {
        if (context == null || !e.isGuestException()) {
            return Optional.empty();
        }
        try {
            return context.traceback(e);
        } catch (PolyglotException second) {
            return Optional.empty();
        }
    }

    private void stop() {
        calls.add(owner::interrupt);
    }

    private void work() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                calls.take().run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
