package dev.torchane.host;

import dev.torchane.TorchAneException;
import java.lang.System.Logger.Level;
import java.lang.reflect.Field;

/**
 * Which context of this process has loaded native Python extensions. Only one can; GraalPy keeps a note of it for itself,
 * and what a second one meets is an internal error.
 */
final class NativeClaim {

    private static final System.Logger LOGGER = System.getLogger(NativeClaim.class.getName());
    private static final String HOLDER = "com.oracle.graal.python.builtins.objects.cext.capi.CApiContext";
    private static final String NOTE = "nativeCAPILoaded";

    private NativeClaim() {}

    /**
     * Checks that no context has loaded natives, as far as this version of GraalPy lets one know.
     *
     * @throws TorchAneException when one has
     */
    static void requireFree() {
        if (taken()) {
            throw taken(null);
        }
    }

    /** The refusal. */
    static TorchAneException taken(Throwable cause) {
        return new TorchAneException(
                "another GraalPy context of this process has loaded native Python extensions already, and a process"
                        + " can load them only once: close that use of GraalPy, or export in a process of its own",
                cause);
    }

    private static boolean taken() {
        try {
            Field note = Class.forName(HOLDER).getDeclaredField(NOTE);
            note.setAccessible(true);
            return note.get(null) instanceof Number state && state.intValue() != 0;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            LOGGER.log(Level.DEBUG, "GraalPy does not tell whether native extensions are loaded", e);
            return false;
        }
    }
}
