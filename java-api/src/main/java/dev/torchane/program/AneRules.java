package dev.torchane.program;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What the Neural Engine would not like about a program. A check, not a promise: a program that breaks no rule may still be
 * refused there, and warnings cost speed or precision, not the compilation. {@code docs/ane-rules.md} is made from this list.
 */
public final class AneRules {

    /** Two ways to the hardware, with different limits. */
    public enum Profile {
        /** Through Core AI: states and {@code slice_update} are allowed, composites are executed whole. */
        COREAI_ANE,
        /** MIL handed to the Neural Engine's compiler directly. */
        DIRECT_ANE;

        /** As on the command line and in messages: {@code coreai-ane}, {@code direct-ane}. */
        public String id() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        @Override
        public String toString() {
            return id();
        }
    }

    /** What breaking a rule costs. */
    public enum Severity {
        /** It does not compile, or gives wrong numbers. */
        ERROR,
        /** It is slower, less precise, or known to fail on some hardware. */
        WARNING
    }

    /**
     * A rule.
     *
     * @param id short name
     * @param title what it asks for
     * @param remedy what to do instead
     * @param source where it comes from; none of them was measured by this project
     * @param profiles where it holds
     */
    public record Rule(
            String id, Severity severity, String title, String remedy, String source, Set<Profile> profiles) {
        public Rule {
            profiles = Set.copyOf(profiles);
        }
    }

    /**
     * A place that breaks a rule.
     *
     * @param place function, and operation or value, such as {@code main: matmul 'scores'}
     * @param found what stands there
     */
    public record Finding(Rule rule, String place, String found) {
        @Override
        public String toString() {
            return place + ": " + found + " (" + rule.id() + ": " + rule.title() + ")";
        }
    }

    private AneRules() {}

    /** Every rule, errors first. */
    public static List<Rule> all() {
        return AneRuleList.RULES.stream()
                .map(AneRuleList.Entry::rule)
                .sorted(Comparator.comparing(Rule::severity))
                .toList();
    }

    /** What a profile would not like about a program, in the order of {@link #all()}. */
    public static List<Finding> check(Program program, Profile profile) {
        List<Finding> findings = new ArrayList<>();
        for (Function function : program.functions()) {
            findings.addAll(check(function, profile));
        }
        if (profile == Profile.DIRECT_ANE && program.functions().size() > 1) {
            findings.add(new Finding(
                    AneRuleList.SEVERAL_FUNCTIONS,
                    "program",
                    program.functions().size() + " functions in one program"));
        }
        return sorted(findings);
    }

    /** What a profile would not like about a function. */
    public static List<Finding> check(Function function, Profile profile) {
        AneSubject subject = new AneSubject(function, profile);
        List<Finding> findings = new ArrayList<>();
        for (AneRuleList.Entry entry : AneRuleList.RULES) {
            if (entry.rule().profiles().contains(profile)) {
                entry.check()
                        .look(
                                subject,
                                (place, found) ->
                                        findings.add(new Finding(entry.rule(), function.name() + ": " + place, found)));
            }
        }
        return sorted(findings);
    }

    /** What a profile would not like about a function as its text declares it, whether it can run here or not. */
    public static List<Finding> check(MilSurvey survey, Profile profile) {
        List<Finding> findings = new ArrayList<>();
        survey.function().ifPresent(function -> findings.addAll(check(function, profile)));
        boolean ranges = survey.shapes().ranges().values().stream()
                .flatMap(List::stream)
                .anyMatch(range -> range.least() != range.most());
        boolean enumerated = survey.shapes().enumerated().size() > 1;
        for (MilSurvey.Input input : survey.inputs()) {
            if (input.type().fixed().isEmpty()
                    && (ranges || survey.shapes().enumerated().isEmpty())) {
                findings.add(new Finding(
                        AneRuleList.STATIC_SHAPES,
                        survey.name() + ": input '" + input.name() + "'",
                        input.type() + ""));
            }
        }
        if (enumerated) {
            findings.add(new Finding(
                    AneRuleList.ENUMERATED_SHAPES,
                    survey.name() + ": inputs",
                    survey.shapes().enumerated().size() + " sets of shapes"));
        }
        return sorted(findings);
    }

    private static List<Finding> sorted(List<Finding> findings) {
        List<Rule> order = all();
        findings.sort(Comparator.comparingInt(finding -> order.indexOf(finding.rule())));
        return List.copyOf(findings);
    }

    /** The text of {@code docs/ane-rules.md}. */
    public static String page() {
        StringBuilder page = new StringBuilder("""
                # Rules for the Neural Engine

                `./torch-ane inspect BUNDLE --ane` and `./torch-ane mil check FILE` look for these; a build for the target `ane` logs how many
                places break them. `coreai-ane` is the way through Core AI, `direct-ane` is MIL handed to the Neural Engine's compiler. No rule was
                measured by this project, which has no such hardware: each names its source. This page is made from `AneRules`.

                | rule | severity | profiles | asks for | instead | source |
                |---|---|---|---|---|---|
                """);
        for (Rule rule : all()) {
            page.append("| `")
                    .append(rule.id())
                    .append("` | ")
                    .append(rule.severity().name().toLowerCase(Locale.ROOT))
                    .append(" | ")
                    .append(String.join(
                            ", ",
                            rule.profiles().stream().map(Profile::id).sorted().toList()))
                    .append(" | ")
                    .append(rule.title())
                    .append(" | ")
                    .append(rule.remedy())
                    .append(" | ")
                    .append(rule.source())
                    .append(" |\n");
        }
        return page.toString();
    }
}
