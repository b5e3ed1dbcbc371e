package dev.torchane.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A line about the machine: processor, what matters of its instructions, threads, JVM. */
final class Machine {

    private static final Path CPUINFO = Path.of("/proc/cpuinfo");

    private Machine() {}

    static String describe(int threads) {
        String flags = cpuinfo("flags");
        StringBuilder simd = new StringBuilder();
        for (String name : new String[] {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16"}) {
            if ((" " + flags + " ").contains(" " + name + " ")) {
                simd.append(simd.isEmpty() ? "" : " ").append(name);
            }
        }
        String processor = cpuinfo("model name");
        return (processor.isEmpty() ? System.getProperty("os.arch") : processor)
                + (simd.isEmpty() ? "" : " (" + simd + ")") + ", " + threads + " threads, "
                + System.getProperty("os.name") + ", Java " + Runtime.version();
    }

    private static String cpuinfo(String key) {
        try (Stream<String> lines = Files.lines(CPUINFO)) {
            return lines.filter(line -> line.startsWith(key))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse("");
        } catch (IOException absent) {
            return "";
        }
    }
}
