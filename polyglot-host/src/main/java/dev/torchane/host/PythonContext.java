package dev.torchane.host;

import java.io.File;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.EnvironmentAccess;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.PolyglotAccess;
import org.graalvm.polyglot.PolyglotException;
import org.graalvm.polyglot.Value;
import org.graalvm.polyglot.io.IOAccess;

/** The context itself. Only {@link PythonHost}'s owner thread touches it. */
final class PythonContext {

    private static final String LANGUAGE = "python";

    private final Context context;
    private final Value importModule;

    private PythonContext(Context context) {
        this.context = context;
        importModule = context.eval(LANGUAGE, "__import__('importlib').import_module");
    }

    /**
     * Starts Python with native access and without a network: models come from files alone.
     *
     * @throws dev.torchane.TorchAneException when the environment is unusable
     * @throws PolyglotException when Python does not start
     */
    static PythonContext create(PythonSettings settings) {
        NativeClaim.requireFree();
        String path = settings.sources() + File.pathSeparator + settings.sitePackages();
        Context context = Context.newBuilder(LANGUAGE)
                .allowHostAccess(hostAccess())
                .allowNativeAccess(true)
                .allowIO(IOAccess.ALL)
                .allowCreateThread(true)
                .allowCreateProcess(false)
                .allowPolyglotAccess(PolyglotAccess.NONE)
                .allowEnvironmentAccess(EnvironmentAccess.INHERIT)
                .environment("HF_HUB_OFFLINE", "1")
                .environment("TRANSFORMERS_OFFLINE", "1")
                .environment("HF_HUB_DISABLE_TELEMETRY", "1")
                .environment("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
                .environment("TRANSFORMERS_VERBOSITY", "error")
                .environment("TOKENIZERS_PARALLELISM", "false")
                .allowExperimentalOptions(true)
                .option("engine.WarnInterpreterOnly", "false")
                .option("python.WarnExperimentalFeatures", "false")
                .option("python.PosixModuleBackend", "native")
                .option("python.NoUserSiteFlag", "true")
                .option("python.DontWriteBytecodeFlag", "false")
                .option("python.Executable", settings.launcher().toString())
                .option("python.PythonPath", path)
                .logHandler(new LogBridge())
                .build();
        try {
            context.initialize(LANGUAGE);
            return new PythonContext(context);
        } catch (RuntimeException e) {
            context.close(true);
            throw e;
        }
    }

    /** Nothing of Java is visible to Python except the methods exported one by one, and lists and maps as such. */
    private static HostAccess hostAccess() {
        return HostAccess.newBuilder(HostAccess.EXPLICIT)
                .allowAccessInheritance(true)
                .allowArrayAccess(true)
                .allowListAccess(true)
                .allowMapAccess(true)
                .allowIterableAccess(true)
                .allowIteratorAccess(true)
                .build();
    }

    /** Imports a module and binds it: the interface's methods are the module's functions. */
    <T> T module(String name, Class<T> type) {
        return importModule.execute(name).as(type);
    }

    /** Runs source code as a module that is not registered, and binds it. */
    <T> T define(String source, Class<T> type) {
        Value module = importModule.execute("types").invokeMember("ModuleType", type.getSimpleName());
        context.eval(LANGUAGE, "exec").execute(source, module.getMember("__dict__"));
        return module.as(type);
    }

    /** Frees what is unreachable on either side: torch's memory hangs on Java objects and on reference cycles. */
    void collect() {
        importModule.execute("gc").invokeMember("collect");
        System.gc();
    }

    /** What Python would print about an exception. */
    Optional<String> traceback(PolyglotException e) {
        Value raised = e.getGuestObject();
        if (raised == null) {
            return Optional.empty();
        }
        Value lines = importModule.execute("traceback").invokeMember("format_exception", raised);
        StringBuilder text = new StringBuilder();
        for (long i = 0; i < lines.getArraySize(); i++) {
            text.append(lines.getArrayElement(i).asString());
        }
        return Optional.of(text.toString().stripTrailing());
    }

    /** Sends the context's log to this library's, warnings of the interpreter about itself as debug messages. */
    private static final class LogBridge extends Handler {
        private static final System.Logger LOGGER = System.getLogger("dev.torchane.python");

        @Override
        public void publish(LogRecord entry) {
            boolean severe = entry.getLevel().intValue() >= java.util.logging.Level.SEVERE.intValue();
            LOGGER.log(severe ? Level.ERROR : Level.DEBUG, entry::getMessage, entry.getThrown());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
