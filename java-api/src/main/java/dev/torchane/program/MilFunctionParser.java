package dev.torchane.program;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one function; every value must be defined before it is used. */
final class MilFunctionParser extends MilGrammar {

    private final Map<String, Value> values = new HashMap<>();
    private final List<Operation> operations = new ArrayList<>();
    private int inlined;

    MilFunctionParser(MilLexer lexer) {
        super(lexer);
    }

    /** Reads the function that begins at an offset of the outline. */
    Function read(int offset) {
        lexer.seek(offset);
        keyword("func");
        String function = name("the name of a function");
        punctuation('<');
        String opset = name("an operation set");
        punctuation('>');
        List<Value> inputs = inputs();
        if (lexer.kind() == '[') {
            lexer.skipBalanced();
        }
        punctuation('{');
        while (lexer.kind() != '}') {
            operations.add(statement());
        }
        lexer.advance();
        int end = lexer.offset();
        List<Value> outputs = new ArrayList<>();
        for (String result : results()) {
            if (!values.containsKey(result)) {
                throw lexer.error(end, "expected results that are defined, found '" + result + "'");
            }
            outputs.add(values.get(result));
        }
        return new Function(function, opset, inputs, operations, outputs);
    }

    private List<Value> inputs() {
        List<Value> inputs = new ArrayList<>();
        punctuation('(');
        while (lexer.kind() != ')') {
            boolean state = lexer.kind() == MilLexer.NAME && lexer.text().equals("state");
            if (state) {
                lexer.advance();
                punctuation('<');
            }
            TensorType type = type();
            if (state) {
                punctuation('>');
            }
            inputs.add(define(type, state));
            separator(')');
        }
        lexer.advance();
        return inputs;
    }

    private Value define(TensorType type, boolean state) {
        int offset = lexer.offset();
        Value value = new Value(name("the name of a value"), type, state);
        if (values.putIfAbsent(value.name(), value) != null) {
            throw lexer.error(offset, "expected a new name, found '" + value.name() + "', which is defined already");
        }
        return value;
    }

    private Operation statement() {
        int offset = lexer.offset();
        String first = name("an operation");
        if (lexer.kind() == '(') {
            return call(offset, first, List.of());
        }
        List<TensorType> types = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<Integer> offsets = new ArrayList<>();
        types.add(type(offset, first));
        while (true) {
            offsets.add(lexer.offset());
            names.add(name("the name of a value"));
            if (lexer.kind() != ',') {
                break;
            }
            lexer.advance();
            types.add(type());
        }
        punctuation('=');
        List<Value> results = new ArrayList<>(names.size());
        for (int i = 0; i < names.size(); i++) {
            results.add(new Value(names.get(i), types.get(i)));
        }
        Operation operation = call(lexer.offset(), name("an operation"), results);
        for (int i = 0; i < names.size(); i++) {
            if (values.putIfAbsent(names.get(i), results.get(i)) != null) {
                throw lexer.error(
                        offsets.get(i), "expected a new name, found '" + names.get(i) + "', which is defined already");
            }
        }
        return operation;
    }

    private Operation call(int offset, String kind, List<Value> results) {
        Map<String, List<Value>> operands = new LinkedHashMap<>();
        punctuation('(');
        while (lexer.kind() != ')') {
            int at = lexer.offset();
            String parameter = name("a parameter");
            punctuation('=');
            if (operands.put(parameter, operand()) != null) {
                throw lexer.error(at, "expected another parameter than '" + parameter + "', which is given already");
            }
            separator(')');
        }
        lexer.advance();
        if (lexer.kind() == '{') {
            throw lexer.expected("an operation without blocks ('" + kind + "' has some, which is not supported)");
        }
        Map<String, Literal> attributes = lexer.kind() == '[' ? attributes() : Map.of();
        punctuation(';');
        if (kind.equals("const")) {
            checkConstant(offset, results, attributes);
        }
        return new Operation(kind, operands, results, attributes);
    }

    private void checkConstant(int offset, List<Value> results, Map<String, Literal> attributes) {
        Literal literal = attributes.get("val");
        if (results.size() != 1 || literal == null) {
            throw lexer.error(offset, "expected a constant with one result and a 'val'");
        }
        if (!literal.type().equals(results.getFirst().type())) {
            throw lexer.error(
                    offset,
                    "expected a 'val' of the result's type "
                            + results.getFirst().type() + ", found " + literal.type());
        }
    }

    private List<Value> operand() {
        if (lexer.kind() != '(') {
            return List.of(value());
        }
        lexer.advance();
        List<Value> several = new ArrayList<>();
        while (lexer.kind() != ')') {
            several.add(value());
            separator(')');
        }
        lexer.advance();
        return several;
    }

    private Value value() {
        int offset = lexer.offset();
        String word = name("a value");
        if (lexer.kind() == '<' || lexer.kind() == '(') {
            return inline(literal(offset, word));
        }
        Value value = values.get(word);
        if (value == null) {
            throw lexer.error(offset, "expected a value that is defined before, found '" + word + "'");
        }
        return value;
    }

    /** A literal in the place of an operand becomes a constant of its own. */
    private Value inline(Literal literal) {
        String free;
        do {
            free = "inline_" + inlined++;
        } while (values.containsKey(free));
        Value value = new Value(free, literal.type());
        values.put(free, value);
        Map<String, Literal> attributes = new LinkedHashMap<>();
        attributes.put("name", new Literal.Text(free));
        attributes.put("val", literal);
        operations.add(new Operation("const", Map.of(), List.of(value), attributes));
        return value;
    }

    private Map<String, Literal> attributes() {
        Map<String, Literal> attributes = new LinkedHashMap<>();
        punctuation('[');
        while (lexer.kind() != ']') {
            String attribute = name("an attribute");
            punctuation('=');
            int offset = lexer.offset();
            String type = name("a type");
            if (type.equals("tuple") || type.equals("dict") || type.equals("list")) {
                lexer.skipBalanced();
                lexer.skipBalanced();
            } else {
                attributes.put(attribute, literal(offset, type));
            }
            separator(']');
        }
        lexer.advance();
        return attributes;
    }

    private Literal literal(int offset, String typeName) {
        return new MilLiteralParser(lexer).read(offset, type(offset, typeName));
    }
}
