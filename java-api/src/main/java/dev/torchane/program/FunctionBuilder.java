package dev.torchane.program;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Makes one function. Every operation infers its results' types when it is added, so a wrong shape fails at that line,
 * naming the operation, its operands and what was expected. A {@link Literal} given as an operand becomes a small
 * constant, once for each function.
 *
 * <p>{@link #operation} takes any operation of the {@link OperationTable}; the methods of {@link Operations} name the
 * common ones. Names that are taken, or are no MIL identifiers, are changed to the nearest free one; names of inputs
 * and states are kept or refused.
 */
public final class FunctionBuilder implements Operations {

    private final String name;
    private final String opset;
    private final Consumer<Function> sink;
    private final Names names = new Names();
    private final List<Value> inputs = new ArrayList<>();
    private final List<Operation> operations = new ArrayList<>();
    private final Map<String, Value> values = new HashMap<>();
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> compileTime = new HashSet<>();
    private final Map<Literal, Value> shared = new HashMap<>();
    private final Map<String, Integer> groups = new HashMap<>();
    private Optional<String> group = Optional.empty();
    private boolean done;

    FunctionBuilder(String name, String opset, Consumer<Function> sink) {
        this.name = name;
        this.opset = opset;
        this.sink = sink;
    }

    /** Declares a tensor that every call gives. */
    public Value input(String inputName, TensorType type) {
        return declare(new Value(names.exactly("input", inputName), type));
    }

    /** Declares a state, which lives between calls. */
    public Value state(String stateName, TensorType type) {
        return declare(new Value(names.exactly("state", stateName), type, true));
    }

    private Value declare(Value value) {
        requireOpen();
        inputs.add(value);
        values.put(value.name(), value);
        return value;
    }

    /** Adds a named constant. */
    public Value constant(String constantName, Literal literal) {
        requireOpen();
        String free = names.derived(constantName);
        Value value = new Value(free, literal.type());
        Map<String, Literal> attributes = new LinkedHashMap<>();
        attributes.put("name", new Literal.Text(free));
        attributes.put("val", literal);
        operations.add(new Operation("const", Map.of(), List.of(value), attributes));
        values.put(free, value);
        literals.put(free, literal);
        compileTime.add(free);
        return value;
    }

    /** The constant for a literal: made at its first use, shared by all later ones. */
    public Value constant(Literal literal) {
        Value known = shared.get(literal);
        if (known == null) {
            known = constant(Names.of(literal), literal);
            shared.put(literal, known);
        }
        return known;
    }

    /**
     * Adds an operation, as a member of the open group if there is one.
     *
     * @param kind an operation of the {@link OperationTable}
     * @param operationName name of the operation and of its result; empty derives one from the kind
     * @param operands by parameter name, in any order; optional ones may be missing
     * @return its results, none for {@code write_state}
     * @throws IllegalArgumentException when an operand is unknown, missing or does not fit
     */
    @Override
    public List<Value> operation(String kind, String operationName, Map<String, ? extends Operand> operands) {
        return operation(kind, operationName, operands, group);
    }

    /** Adds an operation as a member of a group that {@link #newGroup} named, or of none. */
    public List<Value> operation(
            String kind, String operationName, Map<String, ? extends Operand> operands, Optional<String> composite) {
        requireOpen();
        Signature signature = OperationTable.signature(kind);
        String wanted = operationName.isEmpty() ? kind.substring(kind.indexOf('.') + 1) : operationName;
        Map<String, List<Value>> bound = bind(signature, wanted, operands);
        List<TensorType> types = signature.infer(new Call(signature, wanted, bound, this::literal));
        String free = names.derived(wanted);
        List<Value> results = new ArrayList<>(types.size());
        for (int i = 0; i < types.size(); i++) {
            String result = types.size() == 1 ? free : names.derived(free + "_" + i);
            results.add(new Value(result, types.get(i)));
        }
        Map<String, Literal> attributes = new LinkedHashMap<>();
        attributes.put("name", new Literal.Text(free));
        composite.ifPresent(member -> attributes.put(Operation.COMPOSITE, new Literal.Text(member)));
        Operation operation = new Operation(kind, bound, results, attributes);
        operations.add(operation);
        for (Value result : operation.outputs()) {
            values.put(result.name(), result);
            if (signature.compileTime()) {
                compileTime.add(result.name());
            }
        }
        return operation.outputs();
    }

    private Map<String, List<Value>> bind(Signature signature, String wanted, Map<String, ? extends Operand> operands) {
        String what = signature.kind() + " '" + wanted + "'";
        for (String given : operands.keySet()) {
            if (signature.parameter(given).isEmpty()) {
                throw new IllegalArgumentException(what + " has no parameter '" + given + "'; it has "
                        + signature.parameters().stream().map(Parameter::name).toList());
            }
        }
        Map<String, List<Value>> bound = new LinkedHashMap<>();
        for (Parameter parameter : signature.parameters()) {
            Operand operand = operands.get(parameter.name());
            if (operand == null) {
                if (parameter.required()) {
                    throw new IllegalArgumentException(
                            what + " needs '" + parameter.name() + "'; it was given " + operands.keySet());
                }
                continue;
            }
            List<Value> list = switch (operand) {
                case Operand.Many(List<Operand> many) ->
                    many.stream().map(this::resolve).toList();
                case Value value -> List.of(resolve(value));
                case Literal literal -> List.of(resolve(literal));
            };
            parameter.check(signature.kind(), wanted, list, compileTime);
            bound.put(parameter.name(), list);
        }
        return bound;
    }

    private Value resolve(Operand operand) {
        return switch (operand) {
            case Literal literal -> constant(literal);
            case Value value -> {
                if (!value.equals(values.get(value.name()))) {
                    throw new IllegalArgumentException(
                            "'" + value + "' is not a value of function '" + name + "'; values cannot cross functions");
                }
                yield value;
            }
            case Operand.Many many -> throw new IllegalArgumentException("operands cannot be nested: " + many);
        };
    }

    private Optional<Literal> literal(Value value) {
        return Optional.ofNullable(literals.get(value.name()));
    }

    /** A fresh name for a group of this kind, such as {@code rms_norm#12}. */
    public String newGroup(String kind) {
        return kind + "#" + (groups.merge(kind, 1, Integer::sum) - 1);
    }

    /** Adds what {@code body} adds as one group of a kind; groups do not nest, the outer one wins. */
    @Override
    public <T> T inGroup(String kind, Supplier<T> body) {
        if (group.isPresent()) {
            return body.get();
        }
        group = Optional.of(newGroup(kind));
        try {
            return body.get();
        } finally {
            group = Optional.empty();
        }
    }

    /** Ends the function. */
    public Function done(Value... outputs) {
        return done(Arrays.asList(outputs));
    }

    /**
     * Ends the function.
     *
     * @throws IllegalArgumentException when an output is a state or of another function
     */
    public Function done(List<Value> outputs) {
        requireOpen();
        for (Value output : outputs) {
            if (resolve(output).state()) {
                throw new IllegalArgumentException("state '" + output.name() + "' cannot be an output of '" + name
                        + "': read it with read_state first");
            }
        }
        Function function = new Function(name, opset, inputs, operations, outputs);
        done = true;
        sink.accept(function);
        return function;
    }

    /**
     * Ends the function, giving its results names.
     *
     * @param outputs results by the name they get, in order; an input, or a value that is given twice, is passed through
     *     {@code identity}
     * @throws IllegalArgumentException when a name is no identifier or an input's, or a value does not fit
     */
    public Function done(Map<String, Value> outputs) {
        requireOpen();
        Map<String, String> renaming = new LinkedHashMap<>();
        Map<String, Value> results = new LinkedHashMap<>();
        for (Map.Entry<String, Value> entry : outputs.entrySet()) {
            String wanted = entry.getKey();
            if (!Names.identifier(wanted)
                    || inputs.stream().anyMatch(input -> input.name().equals(wanted))) {
                throw new IllegalArgumentException("output '" + wanted + "' of '" + name
                        + "' needs a name that is a MIL identifier and not an input's");
            }
            Value value = resolve(entry.getValue());
            if (value.state()) {
                throw new IllegalArgumentException(
                        "state '" + value.name() + "' cannot be the output '" + wanted + "'");
            }
            boolean passed = inputs.contains(value) || results.containsValue(value);
            Value result = passed ? apply("identity", wanted, Map.of("x", value)) : value;
            results.put(wanted, result);
        }
        for (Map.Entry<String, Value> entry : results.entrySet()) {
            renaming.put(entry.getValue().name(), entry.getKey());
        }
        for (String wanted : results.keySet()) {
            if (values.containsKey(wanted) && !renaming.containsKey(wanted)) {
                renaming.put(wanted, names.derived(wanted));
            }
        }
        Function function =
                new Function(name, opset, inputs, operations, List.copyOf(results.values())).renamed(renaming);
        done = true;
        sink.accept(function);
        return function;
    }

    List<Operation> operationsSoFar() {
        return List.copyOf(operations);
    }

    boolean isDone() {
        return done;
    }

    private void requireOpen() {
        if (done) {
            throw new IllegalStateException("function '" + name + "' is done and cannot change");
        }
    }
}
