package dev.torchane.grammar;

import dev.torchane.grammar.Instruction.Branch;
import dev.torchane.grammar.Instruction.Invoke;
import dev.torchane.grammar.Instruction.Loop;
import dev.torchane.grammar.Instruction.Match;
import dev.torchane.grammar.Instruction.Return;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Turns checked rules into the automaton's program over bytes, each node compiled with what follows it. */
final class Compiler {

    private final Rules rules;
    private final Set<String> nullable;
    private final Map<String, Branch> starts = new HashMap<>();
    private final Set<ByteSet> byteSets = new LinkedHashSet<>();
    private boolean emptyIterations;

    private Compiler(Rules rules) {
        this.rules = rules;
        this.nullable = rules.nullable();
    }

    static Automaton compile(Rules unchecked) {
        Rules rules = unchecked.checked();
        Compiler compiler = new Compiler(rules);
        rules.nodes().keySet().forEach(rule -> compiler.starts.put(rule, new Branch()));
        rules.nodes()
                .forEach((rule, node) -> compiler.starts.get(rule).ways.add(compiler.compile(node, Return.RETURN)));
        return new Automaton(
                compiler.starts.get(rules.root()), byteClasses(compiler.byteSets), compiler.emptyIterations);
    }

    private Instruction compile(Node node, Instruction next) {
        return switch (node) {
            case Node.Chars(CodePoints set) -> characters(set, next);
            case Node.Strings(List<String> values) -> strings(values, next);
            case Node.Sequence(List<Node> parts) -> {
                Instruction following = next;
                for (Node part : parts.reversed()) {
                    following = compile(part, following);
                }
                yield following;
            }
            case Node.Either(List<Node> options) -> {
                Branch branch = new Branch();
                options.forEach(option -> branch.ways.add(compile(option, next)));
                yield branch;
            }
            case Node.Repeat repeat -> repeat(repeat, next);
            case Node.Call(String rule) -> new Invoke(starts.get(rule), next);
        };
    }

    private Instruction repeat(Node.Repeat repeat, Instruction next) {
        boolean emptyBody = Rules.nullable(repeat.body(), nullable::contains);
        int min = emptyBody ? 0 : repeat.min();
        if (repeat.max() == 1) {
            Branch branch = new Branch();
            branch.ways.add(compile(repeat.body(), next));
            if (min == 0) {
                branch.ways.add(next);
            }
            return branch;
        }
        if (repeat.max() == Node.UNBOUNDED && min <= 1) {
            Branch again = new Branch();
            Instruction body = compile(repeat.body(), again);
            again.ways.add(body);
            again.ways.add(next);
            return min == 0 ? again : body;
        }
        emptyIterations |= emptyBody;
        return new Loop(compile(repeat.body(), Return.RETURN), min, repeat.max(), next);
    }

    private Instruction characters(CodePoints set, Instruction next) {
        Branch branch = new Branch();
        for (List<ByteSet> sequence : Utf8Ranges.of(set)) {
            Instruction following = next;
            for (ByteSet bytes : sequence.reversed()) {
                following = match(bytes, following);
            }
            branch.ways.add(following);
        }
        return branch.ways.size() == 1 ? branch.ways.getFirst() : branch;
    }

    /** A trie of branches whose leaves go on with {@code next}. */
    private Instruction strings(List<String> values, Instruction next) {
        if (values.size() == 1) {
            byte[] bytes = values.getFirst().getBytes(StandardCharsets.UTF_8);
            Instruction following = next;
            for (int i = bytes.length - 1; i >= 0; i--) {
                following = match(ByteSet.range(bytes[i] & 0xFF, bytes[i] & 0xFF), following);
            }
            return following;
        }
        Branch root = new Branch();
        Map<Branch, Branch[]> children = new HashMap<>();
        for (String value : new LinkedHashSet<>(values)) {
            Branch at = root;
            for (byte signed : value.getBytes(StandardCharsets.UTF_8)) {
                int b = signed & 0xFF;
                Branch[] below = children.computeIfAbsent(at, branch -> new Branch[256]);
                if (below[b] == null) {
                    below[b] = new Branch();
                    at.ways.add(match(ByteSet.range(b, b), below[b]));
                }
                at = below[b];
            }
            at.ways.add(next);
        }
        return root;
    }

    private Match match(ByteSet bytes, Instruction next) {
        byteSets.add(bytes);
        return new Match(bytes, next);
    }

    /** Numbers the bytes so that two bytes have one number when no set tells them apart. */
    private static int[] byteClasses(Set<ByteSet> sets) {
        int[] classes = new int[256];
        for (ByteSet set : sets) {
            Map<Integer, Integer> renumbered = new HashMap<>();
            for (int b = 0; b < 256; b++) {
                int key = classes[b] * 2 + (set.contains(b) ? 1 : 0);
                classes[b] = renumbered.computeIfAbsent(key, k -> renumbered.size());
            }
        }
        return classes;
    }
}
