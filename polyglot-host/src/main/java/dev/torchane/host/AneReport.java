package dev.torchane.host;

import dev.torchane.build.Target;
import dev.torchane.program.AneRules;
import dev.torchane.program.Program;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Says how many places of a program for the Neural Engine break its rules. */
final class AneReport {

    private static final System.Logger LOG = System.getLogger("dev.torchane.build");

    private AneReport() {}

    /** Logs the places by rule; nothing for other targets. */
    static void log(Program program, Target target) {
        if (target != Target.ANE) {
            return;
        }
        Map<String, Long> places = AneRules.check(program, AneRules.Profile.COREAI_ANE).stream()
                .collect(Collectors.groupingBy(finding -> finding.rule().id(), TreeMap::new, Collectors.counting()));
        LOG.log(
                System.Logger.Level.INFO,
                places.isEmpty()
                        ? "the program breaks no rule of the Neural Engine"
                        : "places that break a rule of the Neural Engine: " + places
                                + "; inspect --ane lists them, docs/ane-rules.md says what to do");
    }
}
