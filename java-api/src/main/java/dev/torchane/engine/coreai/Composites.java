package dev.torchane.engine.coreai;

import dev.torchane.program.Function;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The groups of a function that Core AI has composite operations for. Each becomes a private graph of its members and a call of it, so
 * that a runtime without the composite computes the members.
 *
 * <pre>
 * Given   members of rms_norm#0 over x, weight      Result  graph private noinline @main_rms_norm_0(input, scale)
 *                                                           invoke @main_rms_norm_0(x, weight)
 * </pre>
 */
final class Composites {

    /** Core AI's name for what a composite gives. */
    static final String OUTPUT = "output";

    /**
     * A group as a function of its operands, in Core AI's order.
     *
     * @param names Core AI's, of the operands
     * @param declaration the attributes of its graph
     */
    record Composite(Function function, List<String> names, String declaration) {
        Value output() {
            return function.outputs().getFirst();
        }
    }

    private static final Composites NONE = new Composites(Map.of());

    private final Map<String, Composite> byGroup;

    private Composites(Map<String, Composite> byGroup) {
        this.byGroup = byGroup;
    }

    static Composites none() {
        return NONE;
    }

    Optional<Composite> of(Operation member) {
        return member.composite().map(byGroup::get);
    }

    static Composites of(Function function) {
        Map<String, List<Operation>> members = new LinkedHashMap<>();
        Map<String, Operation> constants = new HashMap<>();
        for (Operation operation : function.operations()) {
            if (operation.constant().isPresent()) {
                constants.put(operation.output().name(), operation);
            } else {
                operation
                        .composite()
                        .ifPresent(group -> members.computeIfAbsent(group, _ -> new ArrayList<>())
                                .add(operation));
            }
        }
        Map<String, Composite> found = new HashMap<>();
        members.forEach((group, operations) -> {
            if (closed(function, group, operations)) {
                composite(function, group, operations, constants).ifPresent(each -> found.put(group, each));
            }
        });
        return new Composites(found);
    }

    /** Whether nothing but the last member's result is used outside. */
    private static boolean closed(Function function, String group, List<Operation> members) {
        Set<String> inner = new LinkedHashSet<>();
        members.forEach(member -> member.outputs().forEach(output -> inner.add(output.name())));
        inner.remove(members.getLast().output().name());
        for (Operation operation : function.operations()) {
            boolean member = operation.composite().filter(group::equals).isPresent();
            if (!member
                    && operation.inputs().values().stream()
                            .flatMap(List::stream)
                            .anyMatch(value -> inner.contains(value.name()))) {
                return false;
            }
        }
        return function.outputs().stream().noneMatch(output -> inner.contains(output.name()));
    }

    private static Optional<Composite> composite(
            Function function, String group, List<Operation> members, Map<String, Operation> constants) {
        String kind = group.substring(0, group.indexOf('#'));
        Set<Value> outside = new LinkedHashSet<>();
        List<Operation> inside = new ArrayList<>();
        Set<String> made = new LinkedHashSet<>();
        for (Operation member : members) {
            for (Value operand :
                    member.inputs().values().stream().flatMap(List::stream).toList()) {
                Operation constant = constants.get(operand.name());
                boolean written = constant != null
                        && !(constant.constant().orElseThrow() instanceof Literal.Blob)
                        && operand.type().elements() <= 16;
                if (written && made.add(operand.name())) {
                    inside.add(constant);
                } else if (!written && !made.contains(operand.name())) {
                    outside.add(operand);
                }
            }
            member.outputs().forEach(output -> made.add(output.name()));
        }
        inside.addAll(members);
        Map<String, Double> numbers = numbers(members, constants);
        return form(kind, members, List.copyOf(outside), numbers)
                .map(form -> new Composite(
                        new Function(
                                function.name() + "_" + group.replace('#', '_'),
                                function.opset(),
                                form.operands(),
                                inside,
                                List.of(members.getLast().output())),
                        form.names(),
                        declaration(function.name() + "_" + group.replace('#', '_'), form)));
    }

    /** Scalars of a group: the epsilon of a root, the factor of a product. */
    private static Map<String, Double> numbers(List<Operation> members, Map<String, Operation> constants) {
        Map<String, Double> numbers = new HashMap<>();
        for (Operation member : members) {
            member.inputs().forEach((parameter, values) -> {
                Operation constant = constants.get(values.getFirst().name());
                if (constant != null && constant.constant().orElseThrow() instanceof Literal.Numbers literal) {
                    numbers.putIfAbsent(
                            member.kind() + "." + parameter, literal.values().getFirst());
                }
            });
        }
        return numbers;
    }

    private record Form(String name, List<Value> operands, List<String> names, String attributes) {}

    private static Optional<Form> form(
            String kind, List<Operation> members, List<Value> outside, Map<String, Double> numbers) {
        return switch (kind) {
            case "rms_norm" ->
                outside.size() == 2 && numbers.containsKey("rsqrt.epsilon")
                        ? Optional.of(new Form(
                                "rms_norm",
                                outside,
                                List.of("input", "scale"),
                                "axes = -1 : si64, eps = " + numbers.get("rsqrt.epsilon") + " : f32"))
                        : Optional.empty();
            case "rope" ->
                outside.size() == 3
                        ? Optional.of(new Form(
                                "rope",
                                outside,
                                List.of("input", "cos", "sin"),
                                "interleaved = false, dims = "
                                        + outside.getFirst().type().axis(-1) + " : si64, scale = 1.0 : f32"))
                        : Optional.empty();
            case "sdpa" ->
                outside.size() == 4 && numbers.containsKey("mul.y")
                        ? Optional.of(new Form(
                                "scaled_dot_product_attention",
                                attention(members, outside),
                                List.of("query", "key", "value", "attn_mask"),
                                "is_causal = false, window_size = 0 : si64, scale = " + numbers.get("mul.y")
                                        + " : f32"))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    /** Query, key, value, mask: the mask is what is added. */
    private static List<Value> attention(List<Operation> members, List<Value> outside) {
        Value mask = members.stream()
                .filter(member -> member.kind().equals("add"))
                .flatMap(member -> member.input("y").stream())
                .findFirst()
                .orElse(outside.getLast());
        List<Value> ordered = new ArrayList<>(outside);
        ordered.remove(mask);
        ordered.add(mask);
        return ordered;
    }

    private static String declaration(String symbol, Form form) {
        String names = String.join("\", \"", form.names());
        return "{__coreai_pure__, composite_decl = #coreai.composite_declaration<\"%s\" = {input_names = [\"%s\"], op_attrs = {%s, version = 1 : si64}, output_names = [\"%s\"]}>, template_op = \"%s\"}"
                .formatted(form.name(), names, form.attributes(), OUTPUT, symbol);
    }
}
