package dev.torchane.host;

import dev.torchane.TorchAneException;
import java.util.Arrays;
import java.util.Optional;
import org.graalvm.polyglot.PolyglotException;
import org.graalvm.polyglot.SourceSection;

/** Turns what the context throws into {@link TorchAneException}: no polyglot type leaves this module. */
final class PythonErrors {

    private static final String SECOND_CONTEXT = "second GraalPy context";
    private static final String OWN_PACKAGE = "dev.torchane.";

    private PythonErrors() {}

    /**
     * The exception for a failed call. A {@link TorchAneException} that Java code threw below Python comes back as itself;
     * any other failure becomes one, whose cause's message is the Python traceback.
     *
     * @param traceback what Python prints about it, where it was Python that raised
     */
    static RuntimeException translate(PolyglotException e, Optional<String> traceback) {
        String message = e.getMessage() == null ? "unknown error" : e.getMessage();
        if (e.isHostException()) {
            return fromJava(e, e.asHostException());
        }
        PythonTraceback cause = new PythonTraceback(traceback.orElseGet(() -> frames(e) + message));
        if (message.contains(SECOND_CONTEXT)) {
            return NativeClaim.taken(cause);
        }
        if (e.isResourceExhausted()) {
            return new TorchAneException("Python ran out of memory or stack: " + message, cause);
        }
        if (e.isExit()) {
            return new TorchAneException("Python code asked the process to exit with " + e.getExitStatus(), cause);
        }
        if (e.isCancelled() || e.isInterrupted()) {
            return new TorchAneException("the call into Python was interrupted", cause);
        }
        return new TorchAneException("Python failed: " + message, cause);
    }

    /** The same failure with the waiting thread's own stack added. */
    static RuntimeException onCallersThread(Throwable failure) {
        failure.addSuppressed(new CalledFrom());
        return switch (failure) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new TorchAneException("the call into Python failed: " + failure.getMessage(), failure);
        };
    }

    private static RuntimeException fromJava(PolyglotException e, Throwable thrown) {
        thrown.setStackTrace(Arrays.stream(thrown.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith(OWN_PACKAGE))
                .toArray(StackTraceElement[]::new));
        PythonTraceback called = new PythonTraceback(frames(e) + thrown);
        if (thrown instanceof TorchAneException own) {
            own.addSuppressed(called);
            return own;
        }
        thrown.addSuppressed(called);
        return new TorchAneException("the program could not be built: " + thrown.getMessage(), thrown);
    }

    /** The Python functions that were running, outermost first. */
    private static String frames(PolyglotException e) {
        StringBuilder text = new StringBuilder();
        for (PolyglotException.StackFrame frame : e.getPolyglotStackTrace()) {
            if (frame.isGuestFrame()) {
                text.insert(0, "  " + location(frame.getSourceLocation()) + "in " + frame.getRootName() + "\n");
            }
        }
        return "Traceback (most recent call last):\n" + text;
    }

    private static String location(SourceSection section) {
        if (section == null || !section.isAvailable()) {
            return "";
        }
        String path = section.getSource().getPath();
        return "File \"" + (path == null ? section.getSource().getName() : path) + "\", line " + section.getStartLine()
                + ", ";
    }

    /** Carries a Python traceback as its message. */
    private static final class PythonTraceback extends Exception {
        PythonTraceback(String text) {
            super(text, null, false, false);
        }

        @Override
        public String toString() {
            return getMessage();
        }
    }

    /** Marks where the waiting thread called from. */
    private static final class CalledFrom extends Exception {
        CalledFrom() {
            super("called from");
        }
    }
}
