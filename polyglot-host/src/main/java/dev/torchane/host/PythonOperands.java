package dev.torchane.host;

import dev.torchane.program.DType;
import dev.torchane.program.Literal;
import dev.torchane.program.Operand;
import dev.torchane.program.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.graalvm.polyglot.Value;

/** Reads the operands Python gives: handles, literals, lists of either. */
final class PythonOperands {

    private static final Set<String> FLOATS = Set.of("float", "Double", "Float");

    private PythonOperands() {}

    /** A literal that Python gives: a number, a truth value, a text, or a list of numbers or truth values. */
    static Literal literal(Value value) {
        if (operand("value", value, DType.FP32) instanceof Literal literal) {
            return literal;
        }
        throw new IllegalArgumentException("a constant must be a literal, found " + value);
    }

    /**
     * A Python mapping as Java's. Integers become int32; floats take the element type of the first handle that has a
     * floating-point type, fp32 when there is none.
     *
     * @throws IllegalArgumentException when something in it is none of these
     */
    static Map<String, Operand> read(Value mapping) {
        Map<String, Value> given = entries(mapping);
        DType floats = given.values().stream()
                .flatMap(value -> handles(value).stream())
                .map(handle -> handle.type().dtype())
                .filter(DType::isFloat)
                .findFirst()
                .orElse(DType.FP32);
        Map<String, Operand> operands = new LinkedHashMap<>();
        given.forEach((parameter, value) -> operands.put(parameter, operand(parameter, value, floats)));
        return operands;
    }

    /** A Python mapping from names to handles. */
    static Map<String, dev.torchane.program.Value> handlesByName(Value mapping) {
        Map<String, dev.torchane.program.Value> handles = new LinkedHashMap<>();
        entries(mapping).forEach((name, value) -> handles.put(name, handle(value.asHostObject())));
        return handles;
    }

    /**
     * The program's value behind a handle that came back from Python.
     *
     * @throws IllegalArgumentException when it is something else
     */
    static dev.torchane.program.Value handle(Object object) {
        if (object instanceof dev.torchane.program.Value handle) {
            return handle;
        }
        throw new IllegalArgumentException("expected a handle that a sink gave out, found " + object);
    }

    private static Map<String, Value> entries(Value mapping) {
        if (!mapping.hasHashEntries()) {
            throw new IllegalArgumentException("expected a mapping by parameter name, found " + mapping);
        }
        Map<String, Value> entries = new LinkedHashMap<>();
        Value iterator = mapping.getHashEntriesIterator();
        while (iterator.hasIteratorNextElement()) {
            Value entry = iterator.getIteratorNextElement();
            entries.put(entry.getArrayElement(0).asString(), entry.getArrayElement(1));
        }
        return entries;
    }

    private static List<dev.torchane.program.Value> handles(Value value) {
        if (value.isHostObject()) {
            return List.of(handle(value.asHostObject()));
        }
        if (!value.hasArrayElements() || value.isString()) {
            return List.of();
        }
        return elements(value).stream().flatMap(each -> handles(each).stream()).toList();
    }

    private static Operand operand(String parameter, Value value, DType floats) {
        if (value.isHostObject()) {
            return handle(value.asHostObject());
        }
        if (value.isBoolean()) {
            return Literal.bool(value.asBoolean());
        }
        if (value.isString()) {
            return Literal.text(value.asString());
        }
        if (value.isNumber()) {
            return integer(value) ? Literal.int32(int32(parameter, value)) : Literal.scalar(floats, value.asDouble());
        }
        if (value.hasArrayElements()) {
            return vector(parameter, elements(value), floats);
        }
        throw new IllegalArgumentException("operand '" + parameter
                + "' must be a handle, a number, a truth value, a text, or a list of these, found "
                + value.getMetaObject() + " " + value);
    }

    private static Operand vector(String parameter, List<Value> elements, DType floats) {
        if (elements.stream().anyMatch(Value::isHostObject)) {
            return Operand.many(elements.stream()
                    .map(element -> operand(parameter, element, floats))
                    .toList());
        }
        if (!elements.isEmpty() && elements.stream().allMatch(Value::isBoolean)) {
            return new Literal.Numbers(
                    TensorType.of(DType.BOOL, elements.size()),
                    elements.stream().map(each -> each.asBoolean() ? 1.0 : 0.0).toList());
        }
        if (elements.stream().allMatch(each -> each.isNumber() && integer(each))) {
            return Literal.int32s(
                    elements.stream().map(each -> int32(parameter, each)).toList());
        }
        if (elements.stream().allMatch(Value::isNumber)) {
            return new Literal.Numbers(
                    TensorType.of(floats, elements.size()),
                    elements.stream().map(Value::asDouble).toList());
        }
        throw new IllegalArgumentException("operand '" + parameter + "' mixes kinds in one list: " + elements);
    }

    private static List<Value> elements(Value array) {
        List<Value> elements = new ArrayList<>();
        for (long i = 0; i < array.getArraySize(); i++) {
            elements.add(array.getArrayElement(i));
        }
        return elements;
    }

    /** Python's integers and floats are told apart by their type: 1.0 stays a float. */
    private static boolean integer(Value number) {
        return !FLOATS.contains(number.getMetaObject().getMetaSimpleName());
    }

    private static int int32(String parameter, Value number) {
        if (!number.fitsInInt()) {
            throw new IllegalArgumentException("operand '" + parameter + "' does not fit int32: " + number);
        }
        return number.asInt();
    }
}
