package dev.torchane.cli;

import dev.torchane.program.Manifest;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** One line about how long a bundle took to build. */
final class BuildReport {

    private BuildReport() {}

    /** Seconds in all, and each stage's seconds and share; says so when the bundle does not know. */
    static String line(Manifest manifest) {
        Map<String, Double> seconds = manifest.buildSeconds();
        double all = seconds.values().stream().mapToDouble(Double::doubleValue).sum();
        if (all == 0) {
            return "build: not recorded";
        }
        return String.format(Locale.ROOT, "build %.1f s: ", all)
                + seconds.entrySet().stream()
                        .map(stage -> String.format(
                                Locale.ROOT,
                                "%s %.1f s (%.0f %%)",
                                stage.getKey(),
                                stage.getValue(),
                                100 * stage.getValue() / all))
                        .collect(Collectors.joining(", "));
    }
}
