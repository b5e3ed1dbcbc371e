package dev.torchane.grammar;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Named rules and the first of them. Every {@link Node.Call} names a rule that exists. {@link #checked} removes what can never
 * match, so that every prefix the rules allow can be completed, and refuses left recursion.
 *
 * @param positions where a rule stands in its text, for messages
 */
record Rules(String root, Map<String, Node> nodes, Function<String, String> positions) {

    static Rules single(Node node) {
        return new Rules("root", Map.of("root", node), rule -> "index 0");
    }

    /** The rules that the root reaches, without alternatives that can never match. */
    Rules checked() {
        Set<String> productive = fixpoint(nodes, Rules::productive);
        if (!productive.contains(root)) {
            throw new GrammarException(positions.apply(root), "nothing matches: " + root + " can never be completed");
        }
        Map<String, Node> kept = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>(List.of(root));
        while (!open.isEmpty()) {
            String rule = open.pop();
            if (!kept.containsKey(rule)) {
                Node pruned = pruned(nodes.get(rule), productive);
                kept.put(rule, pruned);
                open.addAll(calls(pruned, new LinkedHashSet<>()));
            }
        }
        Rules rules = new Rules(root, kept, positions);
        rules.refuseLeftRecursion();
        return rules;
    }

    /** The rules that match the empty string. */
    Set<String> nullable() {
        return fixpoint(nodes, Rules::nullable);
    }

    private static Set<String> fixpoint(Map<String, Node> nodes, RuleTest test) {
        Set<String> found = new HashSet<>();
        List<String> open = new ArrayList<>(nodes.keySet()).reversed();
        int before = -1;
        while (before != open.size()) {
            before = open.size();
            open = new ArrayList<>(open);
            open.removeIf(rule -> test.holds(nodes.get(rule), found::contains) && found.add(rule));
        }
        return found;
    }

    private interface RuleTest {
        boolean holds(Node node, Predicate<String> rules);
    }

    private static boolean productive(Node node, Predicate<String> rules) {
        return switch (node) {
            case Node.Chars(CodePoints set) -> !set.isEmpty();
            case Node.Strings(List<String> values) -> !values.isEmpty();
            case Node.Sequence(List<Node> parts) -> parts.stream().allMatch(part -> productive(part, rules));
            case Node.Either(List<Node> options) -> options.stream().anyMatch(option -> productive(option, rules));
            case Node.Repeat(Node body, int min, int max) -> min == 0 || max == 0 || productive(body, rules);
            case Node.Call(String rule) -> rules.test(rule);
        };
    }

    static boolean nullable(Node node, Predicate<String> rules) {
        return switch (node) {
            case Node.Chars chars -> false;
            case Node.Strings(List<String> values) -> values.contains("");
            case Node.Sequence(List<Node> parts) -> parts.stream().allMatch(part -> nullable(part, rules));
            case Node.Either(List<Node> options) -> options.stream().anyMatch(option -> nullable(option, rules));
            case Node.Repeat(Node body, int min, int max) -> min == 0 || nullable(body, rules);
            case Node.Call(String rule) -> rules.test(rule);
        };
    }

    private static Node pruned(Node node, Set<String> productive) {
        if (!productive(node, productive::contains)) {
            return Node.NEVER;
        }
        return switch (node) {
            case Node.Sequence(List<Node> parts) ->
                new Node.Sequence(
                        parts.stream().map(part -> pruned(part, productive)).toList());
            case Node.Either(List<Node> options) ->
                new Node.Either(options.stream()
                        .filter(option -> productive(option, productive::contains))
                        .map(option -> pruned(option, productive))
                        .toList());
            case Node.Repeat(Node body, int min, int max) ->
                max == 0 || !productive(body, productive::contains)
                        ? Node.EMPTY
                        : new Node.Repeat(pruned(body, productive), min, max);
            default -> node;
        };
    }

    private static Set<String> calls(Node node, Set<String> found) {
        switch (node) {
            case Node.Sequence(List<Node> parts) -> parts.forEach(part -> calls(part, found));
            case Node.Either(List<Node> options) -> options.forEach(option -> calls(option, found));
            case Node.Repeat(Node body, int min, int max) -> calls(body, found);
            case Node.Call(String rule) -> found.add(rule);
            case Node.Chars chars -> {}
            case Node.Strings strings -> {}
        }
        return found;
    }

    private void refuseLeftRecursion() {
        Set<String> nullable = nullable();
        Map<String, Set<String>> corners = new HashMap<>();
        nodes.forEach((rule, node) -> corners.put(rule, leftCorners(node, nullable, new LinkedHashSet<>())));
        Map<String, List<String>> callers = new HashMap<>();
        corners.forEach((rule, callees) -> callees.forEach(callee ->
                callers.computeIfAbsent(callee, c -> new ArrayList<>()).add(rule)));
        Map<String, Integer> left = new HashMap<>();
        corners.forEach((rule, callees) -> left.put(rule, callees.size()));
        Deque<String> free = new ArrayDeque<>();
        left.forEach((rule, count) -> {
            if (count == 0) {
                free.add(rule);
            }
        });
        while (!free.isEmpty()) {
            String rule = free.pop();
            left.remove(rule);
            for (String caller : callers.getOrDefault(rule, List.of())) {
                if (left.merge(caller, -1, Integer::sum) == 0) {
                    free.add(caller);
                }
            }
        }
        if (!left.isEmpty()) {
            List<String> cycle = cycle(corners, left.keySet());
            throw new GrammarException(
                    positions.apply(cycle.getFirst()),
                    "left recursion: " + String.join(" → ", cycle)
                            + "; let the rule begin with something else, or write a repetition");
        }
    }

    /** A cycle among rules that all have a left corner among themselves. */
    private List<String> cycle(Map<String, Set<String>> corners, Set<String> members) {
        List<String> path = new ArrayList<>();
        Set<String> onPath = new HashSet<>();
        String rule =
                nodes.keySet().stream().filter(members::contains).findFirst().orElseThrow();
        while (onPath.add(rule)) {
            path.add(rule);
            rule = corners.get(rule).stream()
                    .filter(members::contains)
                    .findFirst()
                    .orElseThrow();
        }
        List<String> cycle = new ArrayList<>(path.subList(path.indexOf(rule), path.size()));
        cycle.add(rule);
        return cycle;
    }

    private static Set<String> leftCorners(Node node, Set<String> nullable, Set<String> found) {
        switch (node) {
            case Node.Sequence(List<Node> parts) -> {
                for (Node part : parts) {
                    leftCorners(part, nullable, found);
                    if (!nullable(part, nullable::contains)) {
                        break;
                    }
                }
            }
            case Node.Either(List<Node> options) -> options.forEach(option -> leftCorners(option, nullable, found));
            case Node.Repeat(Node body, int min, int max) -> leftCorners(body, nullable, found);
            case Node.Call(String rule) -> found.add(rule);
            case Node.Chars chars -> {}
            case Node.Strings strings -> {}
        }
        return found;
    }
}
