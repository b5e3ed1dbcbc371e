package dev.torchane.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The JVM's own cache of loaded and linked classes (JEP 483), which the script {@code ./torch-ane} hands to every start once it is
 * there. It is recorded by a process of its own, which runs a built model once more, with the flags and class path of this one.
 */
final class AotCache {

    /** Names the file to make; unset when there is one already, or none is wanted. */
    private static final String PROPERTY = "torchane.aot";

    private static final long LIMIT_SECONDS = 120;

    private AotCache() {}

    /** Makes the cache if the script asked for it. A failure leaves an empty file, which the script takes as "do not ask again". */
    static void makeIfAsked(Path bundle) {
        String asked = System.getProperty(PROPERTY, "");
        if (asked.isEmpty()) {
            return;
        }
        System.err.println("torch-ane: making later starts faster (once for this build)");
        Path target = Path.of(asked);
        try {
            Path fresh = Files.createTempFile(target.getParent(), "aot", ".tmp");
            try {
                if (!record(bundle, fresh)) {
                    System.err.println("torch-ane: that failed; starts stay as they are");
                    Files.write(fresh, new byte[0]);
                }
                Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(fresh);
            }
        } catch (IOException failure) {
            System.err.println("torch-ane: cannot write " + target + ": " + failure);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean record(Path bundle, Path output) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command(bundle, output))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)
                    && process.exitValue() == 0
                    && Files.size(output) > 0;
        } finally {
            process.destroyForcibly();
        }
    }

    private static List<String> command(Path bundle, Path output) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> !flag.startsWith("-D" + PROPERTY + "="))
                .forEach(command::add);
        command.add("-XX:AOTCacheOutput=" + output);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of("run", bundle.toString(), "Say hello.", "--max-tokens", "8"));
        return command;
    }
}
