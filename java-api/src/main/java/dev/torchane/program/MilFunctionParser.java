package dev.torchane.program;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads one function; every value must be defined before it is used. Results whose shape the text leaves open get the one that
 * inference gives. What cannot run is refused where it stands, or, in a survey, noted.
 */
final class MilFunctionParser extends MilGrammar {

    private static final Set<String> TYPES =
            Set.of("tensor", "state", "tuple", "list", "dict", "tensor_buffer", "pixel_buffer");
    private static final String FLEXIBLE = "FlexibleShapeInformation";

    /** Operations between tensors and hardware buffers: here, where a buffer is its values, they change nothing. */
    private static final Set<String> BUFFER_COPIES = Set.of("tensor_buffer_to_tensor", "tensor_to_tensor_buffer");

    /** Stands for what has no tensor's type, in a survey. */
    private static final TensorType OPAQUE = TensorType.of(DType.STRING);

    private static final int MOST_OBSTACLES = 100;

    /** An input as declared. */
    private record Declared(int offset, String name, MilType type) {}

    /** The result of a statement as declared. */
    private record Result(int offset, String name, int typeOffset, MilType type) {}

    private final boolean surveying;
    private final Map<String, List<Integer>> chosen;
    private final Map<String, Value> values = new HashMap<>();
    private final Map<String, Literal> literals = new HashMap<>();
    private final Set<String> opaque = new HashSet<>();
    private final List<Operation> operations = new ArrayList<>();
    private final List<MilSyntaxException> obstacles = new ArrayList<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private FlexibleShapes shapes = FlexibleShapes.NONE;
    private int inlined;

    /** A parser that gives inputs of open shape the shapes in {@code chosen}, or their defaults. */
    MilFunctionParser(MilLexer lexer, Map<String, List<Integer>> chosen) {
        this(lexer, chosen, false);
    }

    private MilFunctionParser(MilLexer lexer, Map<String, List<Integer>> chosen, boolean surveying) {
        super(lexer);
        this.chosen = chosen;
        this.surveying = surveying;
    }

    /** Reads the function that begins at an offset of the outline. */
    Function read(int offset) {
        return survey(offset).function().orElseThrow();
    }

    /** Reads the function at an offset, noting what cannot run instead of refusing it. */
    static MilSurvey survey(MilLexer lexer, int offset) {
        return new MilFunctionParser(lexer, Map.of(), true).survey(offset);
    }

    private MilSurvey survey(int offset) {
        lexer.seek(offset);
        keyword("func");
        String function = name("the name of a function");
        punctuation('<');
        String opset = name("an operation set");
        punctuation('>');
        List<Declared> declared = declared();
        if (lexer.kind() == '[') {
            functionAttributes();
        }
        List<Value> inputs = declared.stream().map(this::define).toList();
        punctuation('{');
        while (lexer.kind() != '}') {
            statement();
        }
        lexer.advance();
        int end = lexer.offset();
        List<String> results = results();
        List<Value> outputs = new ArrayList<>();
        for (String result : results) {
            if (!values.containsKey(result)) {
                throw lexer.error(end, "expected results that are defined, found '" + result + "'");
            }
            outputs.add(values.get(result));
        }
        Optional<Function> whole = obstacles.isEmpty()
                ? Optional.of(new Function(function, opset, inputs, operations, outputs))
                : Optional.empty();
        List<MilSurvey.Input> named = declared.stream()
                .map(each -> new MilSurvey.Input(each.name(), each.type()))
                .toList();
        return new MilSurvey(function, opset, named, shapes, results, counts, obstacles, whole);
    }

    private void obstacle(int offset, String problem) {
        MilSyntaxException refusal = lexer.error(offset, problem);
        if (!surveying) {
            throw refusal;
        }
        if (obstacles.size() < MOST_OBSTACLES) {
            obstacles.add(refusal);
        }
    }

    private List<Declared> declared() {
        List<Declared> declared = new ArrayList<>();
        punctuation('(');
        while (lexer.kind() != ')') {
            int offset = lexer.offset();
            MilType type = milType(offset, name("a type"));
            declared.add(new Declared(offset, name("the name of a value"), type));
            separator(')');
        }
        lexer.advance();
        return declared;
    }

    private void functionAttributes() {
        punctuation('[');
        while (lexer.kind() != ']') {
            String attribute = name("an attribute");
            punctuation('=');
            int offset = lexer.offset();
            milType(offset, name("a type"));
            Object value = new MilValueParser(lexer).value();
            if (attribute.equals(FLEXIBLE)) {
                shapes = MilValueParser.shapes(value);
            }
            separator(']');
        }
        lexer.advance();
    }

    private Value define(Declared input) {
        TensorType type = input.type().fixed().orElseGet(() -> shaped(input));
        Value value = new Value(input.name(), type, input.type() instanceof MilType.OfState);
        define(input.offset(), value);
        return value;
    }

    private void define(int offset, Value value) {
        if (values.putIfAbsent(value.name(), value) != null) {
            throw lexer.error(offset, "expected a new name, found '" + value.name() + "', which is defined already");
        }
    }

    /** The type of an input whose shape is open. */
    private TensorType shaped(Declared input) {
        if (!(input.type() instanceof MilType.OfTensor(DType dtype, List<Integer> open))) {
            obstacle(input.offset(), "expected a tensor or a state to run on, found " + input.type());
            opaque.add(input.name());
            return OPAQUE;
        }
        List<Integer> shape =
                chosen.getOrDefault(input.name(), shapes.defaults().get(input.name()));
        if (shape == null && !shapes.enumerated().isEmpty()) {
            shape = shapes.enumerated().values().iterator().next().get(input.name());
        }
        boolean fits = shape != null && shape.size() == open.size();
        for (int axis = 0; fits && axis < open.size(); axis++) {
            int size = open.get(axis);
            fits = shape.get(axis) >= 0 && (size == MilType.OPEN || size == shape.get(axis));
        }
        if (!fits) {
            obstacle(
                    input.offset(),
                    "expected a fixed shape, or one in " + FLEXIBLE + " (shapes are static), found " + input.type()
                            + (shape == null ? "" : " and the shape " + shape));
            opaque.add(input.name());
            return OPAQUE;
        }
        return new TensorType(dtype, shape);
    }

    private void statement() {
        int offset = lexer.offset();
        String first = name("an operation");
        if (lexer.kind() == '(' || (lexer.kind() == '<' && !TYPES.contains(first))) {
            operation(offset, first, List.of());
            return;
        }
        List<Result> results = new ArrayList<>();
        int typeOffset = offset;
        MilType type = milType(offset, first);
        while (true) {
            int at = lexer.offset();
            results.add(new Result(at, name("the name of a value"), typeOffset, type));
            if (lexer.kind() != ',') {
                break;
            }
            lexer.advance();
            typeOffset = lexer.offset();
            type = milType(typeOffset, name("a type"));
        }
        punctuation('=');
        operation(lexer.offset(), name("an operation"), results);
    }

    private void operation(int offset, String kind, List<Result> declared) {
        counts.merge(kind, 1, Integer::sum);
        if (lexer.kind() == '<') {
            lexer.skipBalanced(); // the operation set it comes from
        }
        Map<String, List<Value>> operands = operands();
        if (lexer.kind() == '{') {
            obstacle(
                    lexer.offset(),
                    "expected an operation without blocks ('" + kind + "' has some, which is not supported)");
            declared.forEach(result -> opaque.add(result.name()));
            lexer.skipBlock();
            if (lexer.kind() == MilLexer.ARROW) {
                blockResults();
            }
        }
        Map<String, Literal> attributes = lexer.kind() == '[' ? attributes() : Map.of();
        punctuation(';');
        if (BUFFER_COPIES.contains(kind) && operands.containsKey("input")) {
            add(offset, "identity", Map.of("x", operands.get("input")), declared, attributes);
        } else {
            add(offset, kind, operands, declared, attributes);
        }
    }

    private void add(
            int offset,
            String kind,
            Map<String, List<Value>> operands,
            List<Result> declared,
            Map<String, Literal> attributes) {
        List<TensorType> types = types(offset, kind, operands, declared);
        List<Value> results = new ArrayList<>(declared.size());
        for (int i = 0; i < declared.size(); i++) {
            results.add(new Value(declared.get(i).name(), types.get(i)));
        }
        if (kind.equals("const")
                && !opaque.contains(results.isEmpty() ? "" : results.getFirst().name())) {
            checkConstant(offset, results, attributes);
            literals.put(results.getFirst().name(), attributes.get("val"));
        }
        for (int i = 0; i < results.size(); i++) {
            define(declared.get(i).offset(), results.get(i));
        }
        operations.add(new Operation(kind, operands, results, attributes));
    }

    /** The results' types: as declared, or as inference gives them where a shape is open. */
    private List<TensorType> types(int offset, String kind, Map<String, List<Value>> operands, List<Result> declared) {
        boolean open = false;
        List<TensorType> types = new ArrayList<>(declared.size());
        for (Result result : declared) {
            Optional<TensorType> fixed = result.type().fixed();
            open |= fixed.isEmpty() && result.type() instanceof MilType.OfTensor;
            if (fixed.isEmpty() && !(result.type() instanceof MilType.OfTensor)) {
                if (opaque.add(result.name())) {
                    obstacle(result.typeOffset(), "expected a tensor to run on, found " + result.type());
                }
            }
            types.add(fixed.orElse(OPAQUE));
        }
        if (!open) {
            return types;
        }
        boolean known =
                operands.values().stream().flatMap(List::stream).noneMatch(value -> opaque.contains(value.name()));
        if (known) {
            try {
                Signature signature = OperationTable.signature(kind);
                String name = declared.getFirst().name();
                List<TensorType> inferred = signature.infer(
                        new Call(signature, name, operands, value -> Optional.ofNullable(literals.get(value.name()))));
                if (inferred.size() == declared.size()) {
                    return inferred;
                }
                obstacle(offset, "expected " + inferred.size() + " results, found " + declared.size());
            } catch (IllegalArgumentException e) {
                obstacle(offset, "expected shapes that can be inferred (shapes are static): " + e.getMessage());
            }
        }
        declared.forEach(result -> opaque.add(result.name()));
        return types;
    }

    private Map<String, List<Value>> operands() {
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
        return operands;
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
        literals.put(free, literal);
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
                milType(offset, type);
                new MilValueParser(lexer).value();
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
