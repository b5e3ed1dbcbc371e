package dev.torchane.engine.jvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How many threads do useful work at the same time. */
final class Cores {

    private static final Pattern CORE = Pattern.compile("(?m)^(physical id|core id)\\s*:\\s*(\\d+)$");

    private Cores() {}

    /** Physical cores that this process may use; half of 2-way hyper-threads do not count. */
    static int physical() {
        int available = Runtime.getRuntime().availableProcessors();
        try {
            Set<String> cores = new HashSet<>();
            String socket = "0";
            Matcher matcher = CORE.matcher(Files.readString(Path.of("/proc/cpuinfo")));
            while (matcher.find()) {
                if (matcher.group(1).equals("physical id")) {
                    socket = matcher.group(2);
                } else {
                    cores.add(socket + "/" + matcher.group(2));
                }
            }
            return cores.isEmpty() ? available : Math.min(available, cores.size());
        } catch (IOException e) {
            return available;
        }
    }
}
