package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checks a function that was read rather than built: every operation is known, has its parameters, and its results have
 * the types that inference gives. What passes here cannot surprise an engine.
 */
public final class FunctionCheck {

    private final String source;
    private final Function function;
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> compileTime = new HashSet<>();
    private final Map<String, Value> defined = new HashMap<>();

    private FunctionCheck(String source, Function function) {
        this.source = source;
        this.function = function;
    }

    /**
     * Checks a function.
     *
     * @param source how errors name the program, such as a file's path
     * @throws TorchAneException naming function, operation, what was expected and found
     */
    public static void verify(String source, Function function) {
        new FunctionCheck(source, function).verify();
    }

    private void verify() {
        function.inputs().forEach(this::define);
        for (Operation operation : function.operations()) {
            operation.inputs().values().forEach(values -> values.forEach(this::use));
            if (operation.kind().equals("const")) {
                constant(operation);
            } else {
                try {
                    infer(operation);
                } catch (IllegalArgumentException e) {
                    throw wrong(e.getMessage());
                }
            }
            operation.outputs().forEach(this::define);
        }
        function.outputs().forEach(this::use);
    }

    private void define(Value value) {
        if (defined.putIfAbsent(value.name(), value) != null) {
            throw wrong("'" + value.name() + "' is defined twice");
        }
    }

    private void use(Value value) {
        if (!value.equals(defined.get(value.name()))) {
            throw wrong("'" + value + "' is used but not defined before");
        }
    }

    private void constant(Operation operation) {
        Literal literal = operation.constant().orElse(null);
        if (operation.outputs().size() != 1
                || literal == null
                || !literal.type().equals(operation.output().type())) {
            throw wrong("a constant needs one result and a value of its type, found " + operation.outputs());
        }
        literals.put(operation.output().name(), literal);
        compileTime.add(operation.output().name());
    }

    private void infer(Operation operation) {
        Signature signature = OperationTable.signature(operation.kind());
        String name = operation.outputs().isEmpty() ? "" : operation.output().name();
        Map<String, List<Value>> operands = new LinkedHashMap<>();
        for (Parameter parameter : signature.parameters()) {
            List<Value> values = operation.inputs().get(parameter.name());
            if (values != null) {
                parameter.check(operation.kind(), name, values, compileTime);
                operands.put(parameter.name(), values);
            } else if (parameter.required()) {
                throw wrong(operation.kind() + " '" + name + "' needs '" + parameter.name() + "'");
            }
        }
        for (String given : operation.inputs().keySet()) {
            if (!operands.containsKey(given)) {
                throw wrong(operation.kind() + " '" + name + "' has no parameter '" + given + "'");
            }
        }
        List<TensorType> types = signature.infer(
                new Call(signature, name, operands, value -> Optional.ofNullable(literals.get(value.name()))));
        List<TensorType> declared = new ArrayList<>();
        for (Value result : operation.outputs()) {
            declared.add(result.type());
        }
        if (!types.equals(declared)) {
            throw wrong(operation.kind() + " '" + name + "' gives " + types + ", but the program declares " + declared);
        }
        if (signature.compileTime()) {
            operation.outputs().forEach(value -> compileTime.add(value.name()));
        }
    }

    private TorchAneException wrong(String problem) {
        return new TorchAneException(source + ": function '" + function.name() + "': " + problem);
    }
}
