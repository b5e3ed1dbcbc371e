package dev.torchane.acceptance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** A Java process with this one's class path, or a part of it. */
public record JavaProcess(int exitCode, String out, String err) {

    private static final List<String> FLAGS = List.of(
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    public static String classPath(Predicate<String> wanted) {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return Arrays.stream(all.split(java.io.File.pathSeparator))
                .filter(wanted)
                .collect(Collectors.joining(java.io.File.pathSeparator));
    }

    public static JavaProcess run(String classPath, List<String> flags, String mainClass, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        for (String property : List.of("torchane.engine", "torchane.units")) {
            if (System.getProperty(property) != null) {
                command.add("-D" + property + "=" + System.getProperty(property));
            }
        }
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, mainClass));
        command.addAll(List.of(arguments));
        return run(command);
    }

    /** Runs JShell on a script, as {@code ./torch-ane jshell} does. */
    public static JavaProcess jshell(Path startup, Path script) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "jshell").toString());
        command.addAll(
                List.of("--class-path", classPath(entry -> !entry.endsWith(".pom") && Files.exists(Path.of(entry)))));
        command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
        FLAGS.forEach(flag -> command.add("-R" + flag));
        command.addAll(List.of("--startup", "DEFAULT", "--startup", startup.toString(), script.toString()));
        return run(command);
    }

    private static JavaProcess run(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile("out", ".txt");
        Path err = Files.createTempFile("err", ".txt");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(10, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("no end after ten minutes: " + command);
            }
            return new JavaProcess(process.exitValue(), Files.readString(out), Files.readString(err));
        } finally {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        }
    }
}
