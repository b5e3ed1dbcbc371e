package dev.torchane.cli;

import dev.torchane.program.AneRules;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints what the Neural Engine would not like, a rule at a time. */
final class AneFindings {

    private static final int SHOWN = 3;

    private AneFindings() {}

    static void print(List<AneRules.Finding> findings, PrintStream out) {
        if (findings.isEmpty()) {
            out.println("  no rule of the Neural Engine is broken");
            return;
        }
        Map<AneRules.Rule, List<AneRules.Finding>> byRule = new LinkedHashMap<>();
        for (AneRules.Finding finding : findings) {
            byRule.computeIfAbsent(finding.rule(), _ -> new java.util.ArrayList<>())
                    .add(finding);
        }
        byRule.forEach((rule, list) -> {
            out.println("  " + rule.severity().name().toLowerCase(java.util.Locale.ROOT) + " " + rule.id() + ": "
                    + rule.title() + " (" + list.size() + ")");
            list.stream()
                    .limit(SHOWN)
                    .forEach(finding -> out.println("      " + finding.place() + ": " + finding.found()));
        });
    }
}
