package dev.torchane.program;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** What every part of MIL's grammar is made of: names, punctuation, types. */
abstract sealed class MilGrammar permits MilOutlineParser, MilFunctionParser, MilLiteralParser, MilValueParser {

    /** Types and values nest no deeper. */
    static final int DEEPEST = 32;

    final MilLexer lexer;

    MilGrammar(MilLexer lexer) {
        this.lexer = lexer;
    }

    final TensorType type() {
        int offset = lexer.offset();
        return type(offset, name("a type"));
    }

    /** A tensor type of fixed shape, from behind its first word. */
    final TensorType type(int offset, String word) {
        MilType type = milType(offset, word);
        return type.fixed()
                .orElseThrow(() ->
                        lexer.error(offset, "expected a tensor of fixed shape (shapes are static), found " + type));
    }

    /** Any type, from behind its first word. */
    final MilType milType(int offset, String word) {
        return milType(offset, word, 0);
    }

    private MilType milType(int depth) {
        int offset = lexer.offset();
        return milType(offset, name("a type"), depth);
    }

    private MilType milType(int offset, String word, int depth) {
        if (depth > DEEPEST) {
            throw lexer.error(offset, "expected types at most " + DEEPEST + " deep");
        }
        return switch (word) {
            case "tensor" -> tensor(offset);
            case "state" -> {
                punctuation('<');
                MilType contents = milType(depth + 1);
                punctuation('>');
                yield new MilType.OfState(contents);
            }
            case "tuple" -> {
                List<MilType> members = new ArrayList<>();
                punctuation('<');
                while (lexer.kind() != '>') {
                    members.add(milType(depth + 1));
                    separator('>');
                }
                lexer.advance();
                yield new MilType.OfTuple(members);
            }
            case "list" -> list(depth);
            case "dict" -> {
                punctuation('<');
                MilType key = milType(depth + 1);
                punctuation(',');
                MilType value = milType(depth + 1);
                punctuation('>');
                yield new MilType.OfDictionary(key, value);
            }
            case "tensor_buffer", "pixel_buffer" -> buffer(word);
            default -> new MilType.OfTensor(dtype(offset, word), List.of());
        };
    }

    private MilType tensor(int offset) {
        punctuation('<');
        int elementOffset = lexer.offset();
        DType dtype = dtype(elementOffset, name("an element type"));
        punctuation(',');
        List<Integer> shape = sizes();
        punctuation('>');
        if (shape.size() > 16) {
            throw lexer.error(offset, "expected a tensor of at most 16 axes, found " + shape.size());
        }
        return new MilType.OfTensor(dtype, shape);
    }

    private List<Integer> sizes() {
        punctuation('[');
        List<Integer> shape = new ArrayList<>();
        while (lexer.kind() != ']') {
            if (lexer.kind() == '?') {
                shape.add(MilType.OPEN);
            } else {
                shape.add(size("the size of an axis"));
            }
            lexer.advance();
            separator(']');
        }
        lexer.advance();
        return shape;
    }

    private int size(String what) {
        if (lexer.kind() != MilLexer.NUMBER) {
            throw lexer.expected(what);
        }
        double size = lexer.number();
        if (size != (int) size || size < 0) {
            throw lexer.expected(what + ", 0 to 2147483647");
        }
        return (int) size;
    }

    private MilType list(int depth) {
        punctuation('<');
        MilType element = milType(depth + 1);
        OptionalInt length = OptionalInt.empty();
        if (lexer.kind() == ',') {
            lexer.advance();
            if (lexer.kind() != '?') {
                length = OptionalInt.of(size("the length of a list, or ?"));
            }
            lexer.advance();
        }
        punctuation('>');
        return new MilType.OfList(element, length);
    }

    /** A buffer: an element type, and properties such as {@code shape=[1, 64]}. */
    private MilType buffer(String kind) {
        Optional<DType> dtype = Optional.empty();
        Map<String, String> properties = new LinkedHashMap<>();
        Optional<List<Integer>> shape = Optional.empty();
        punctuation('<');
        for (int place = 0; lexer.kind() != '>'; place++) {
            int offset = lexer.offset();
            String word = lexer.kind() == MilLexer.NAME ? name("a property") : "";
            if (!word.isEmpty() && lexer.kind() == '=') {
                lexer.advance();
                if (lexer.kind() == '[') {
                    List<Integer> sizes = sizes();
                    if (word.equals("shape") && !sizes.contains(MilType.OPEN)) {
                        shape = Optional.of(sizes);
                    }
                    properties.put(word, sizes.toString().replace("-1", "?"));
                } else {
                    properties.put(word, item());
                }
            } else if (!word.isEmpty() && place == 0 && DType.isMil(word)) {
                dtype = Optional.of(dtype(offset, word));
            } else {
                properties.put(
                        Integer.toString(place),
                        !word.isEmpty() ? word : lexer.kind() == '[' ? sizes().toString() : item());
            }
            separator('>');
        }
        lexer.advance();
        return new MilType.OfBuffer(kind, dtype, properties, shape);
    }

    private String item() {
        if (lexer.kind() != MilLexer.NAME && lexer.kind() != MilLexer.NUMBER && lexer.kind() != MilLexer.STRING) {
            throw lexer.expected("the value of a property");
        }
        String text = lexer.text();
        lexer.advance();
        return text;
    }

    private DType dtype(int offset, String word) {
        try {
            return DType.ofMil(word);
        } catch (IllegalArgumentException e) {
            throw lexer.error(offset, "expected a type, found '" + word + "'");
        }
    }

    final String name(String what) {
        return token(MilLexer.NAME, what);
    }

    final String token(int kind, String what) {
        if (lexer.kind() != kind) {
            throw lexer.expected(what);
        }
        String text = lexer.text();
        lexer.advance();
        return text;
    }

    final void keyword(String word) {
        if (lexer.kind() != MilLexer.NAME || !lexer.text().equals(word)) {
            throw lexer.expected("'" + word + "'");
        }
        lexer.advance();
    }

    final void require(int character) {
        if (lexer.kind() != character) {
            throw lexer.expected("'" + (char) character + "'");
        }
    }

    final void punctuation(int character) {
        require(character);
        lexer.advance();
    }

    /** A comma, or the closing bracket that stays current. */
    final void separator(int close) {
        if (lexer.kind() == ',') {
            lexer.advance();
            if (lexer.kind() == close) {
                throw lexer.expected("another element after the comma");
            }
        } else if (lexer.kind() != close) {
            throw lexer.expected("',' or '" + (char) close + "'");
        }
    }

    final String string() {
        if (lexer.kind() != MilLexer.STRING) {
            throw lexer.expected("a string");
        }
        String text = lexer.string();
        lexer.advance();
        return text;
    }

    /** The results behind a function's body. */
    final List<String> results() {
        List<String> names = blockResults();
        punctuation(';');
        return names;
    }

    /** The results behind a block's body. */
    final List<String> blockResults() {
        if (lexer.kind() != MilLexer.ARROW) {
            throw lexer.expected("'->' and the results");
        }
        lexer.advance();
        punctuation('(');
        List<String> names = new ArrayList<>();
        while (lexer.kind() != ')') {
            names.add(name("the name of a result"));
            separator(')');
        }
        lexer.advance();
        return names;
    }
}
